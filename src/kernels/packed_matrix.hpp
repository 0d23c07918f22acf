// Weights that are used many times, laid out once for the register tiles of gemm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fovea/precision.hpp"
#include "kernels/bf16.hpp"

namespace fovea::kernels {

struct GemmKernels;

/// Whether an operand is used as it stands or transposed.
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
  PackedMatrix(PackedMatrix&& other) noexcept;
  PackedMatrix& operator=(PackedMatrix&& other) noexcept;
  PackedMatrix(const PackedMatrix&) = delete;
  PackedMatrix& operator=(const PackedMatrix&) = delete;
  ~PackedMatrix();

  explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] std::int64_t rows() const { return k_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] Precision stored_precision() const { return bf16_ != nullptr ? Precision::bf16 : Precision::fp32; }
  [[nodiscard]] std::size_t bytes() const;

  // For gemm: [n / nr, rounded up][k][nr], or in bf16 the tiles of bf16.hpp.
  [[nodiscard]] const float* panels() const { return static_cast<const float*>(memory_); }
  [[nodiscard]] const Bf16* tiles() const { return static_cast<const Bf16*>(memory_); }
  [[nodiscard]] const GemmKernels& kernels() const { return *kernels_; }
  [[nodiscard]] const Bf16Kernels* bf16() const { return bf16_; }  // null in fp32

 private:
  std::int64_t k_ = 0, n_ = 0;
  const GemmKernels* kernels_ = nullptr;
  const Bf16Kernels* bf16_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace fovea::kernels
