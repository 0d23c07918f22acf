// Weights that are used many times, laid out once for the register tiles of gemm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fovea/precision.hpp"
#include "kernels/bf16.hpp"
#include "kernels/half.hpp"
#include "kernels/int8.hpp"
#include "kernels/packed_layout.hpp"

namespace fovea::kernels {

struct GemmKernels;

/// Whether an operand is used as it is or transposed.
enum class Trans { no, yes };

/// The kernels for a product with op(B)[k,n] in a precision; null: those of fp32, which there always are. A small B is
/// not worth rounding.
[[nodiscard]] const Bf16Kernels* bf16_for(Precision wanted, std::int64_t k, std::int64_t n);

/// op(B)[k,n], packed for the kernels that were active then; gemm_packed uses those.
///
///     const PackedMatrix weights(Trans::no, 256, 1024, w, 1024);
///     gemm_packed(rows, x, 256, weights, 0.0F, y, 1024);
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// B is stored as [k,n], with Trans::yes as [n,k]; ldb is the distance between its rows. Packs on all threads, for
  /// the kernels of bf16_for().
  PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb,
               Precision wanted = precision());
  /// The same, stored so; f32 as above. A B that int8 cannot sum up (more than 65,536 rows) is stored in f16.
  PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Storage stored);
  /// Some columns of one in int8, in this order.
  PackedMatrix(const PackedMatrix& from, std::span<const std::int32_t> columns);
  /// One that is in int8 already, with the scale of each column of op(B); k is at most kInt8Longest, no number -128.
  PackedMatrix(Trans tb, std::int64_t k, std::int64_t n, const std::int8_t* b, std::int64_t ldb, const float* scales);
  PackedMatrix(PackedMatrix&& other) noexcept;
  PackedMatrix& operator=(PackedMatrix&& other) noexcept;
  PackedMatrix(const PackedMatrix&) = delete;
  PackedMatrix& operator=(const PackedMatrix&) = delete;
  ~PackedMatrix();

  explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] std::int64_t rows() const { return k_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] Precision stored_precision() const { return bf16_ != nullptr ? Precision::bf16 : Precision::fp32; }
  [[nodiscard]] Storage storage() const { return storage_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Of what is at memory(); not of bf16.
  [[nodiscard]] PackedLayout layout() const;
  [[nodiscard]] const void* memory() const { return memory_; }

  // For gemm: [n / nr, rounded up][k][nr] as floats or halves, or the panels of bf16.hpp and int8.hpp.
  [[nodiscard]] const float* panels() const { return static_cast<const float*>(memory_); }
  [[nodiscard]] const Bf16* tiles() const { return static_cast<const Bf16*>(memory_); }
  [[nodiscard]] const Half* halves() const { return static_cast<const Half*>(memory_); }
  [[nodiscard]] const std::int8_t* bytes_of_int8() const { return static_cast<const std::int8_t*>(memory_); }
  [[nodiscard]] const float* int8_scales() const;       // [n, rounded up to whole panels]
  [[nodiscard]] const std::int32_t* int8_sums() const;  // the same
  [[nodiscard]] const HalfKernels& half_kernels() const { return *half_; }
  [[nodiscard]] const Int8Kernels& int8_kernels() const { return *int8_; }
  [[nodiscard]] const GemmKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const Bf16Kernels* bf16() const { return bf16_; }  // null in fp32

 private:
  std::int64_t k_ = 0, n_ = 0;
  const GemmKernels* kernels_ = nullptr;
  const Bf16Kernels* bf16_ = nullptr;
  const HalfKernels* half_ = nullptr;
  const Int8Kernels* int8_ = nullptr;
  Storage storage_ = Storage::f32;
  void* memory_ = nullptr;
};

}  // namespace fovea::kernels
