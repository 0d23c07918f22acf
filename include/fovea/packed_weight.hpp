// A matrix in the form that inference multiplies with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fovea/activation.hpp"
#include "fovea/precision.hpp"
#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

namespace kernels {
class PackedMatrix;
struct PackedLayout;
}  // namespace kernels

/// Which way round a layer multiplies with a matrix: x W with W [in, out], or x W' with W [out, in], whose rows are
/// outputs, as in an embedding that is also the output layer.
enum class MatrixLayout { in_out, out_in };

/// A matrix laid out, and perhaps rounded, for products. It does not follow later changes of the weight.
///
///     const PackedWeight packed(w, MatrixLayout::in_out, Storage::int8);
///     const Tensor y = packed.product(x, bias, Activation::relu);  // [.., in] to [.., out]
class PackedWeight {
 public:
  /// `w` [in, out] or [out, in].
  PackedWeight(const Tensor& w, MatrixLayout layout, Storage storage);
  /// Some outputs of one in int8, in this order.
  PackedWeight(const PackedWeight& from, std::span<const std::int32_t> outputs);
  /// Packed before, for a layout that this machine's products can use; `owner` keeps the memory. For the library's own
  /// files.
  PackedWeight(const kernels::PackedLayout& layout, const void* memory, std::shared_ptr<const void> owner);
  ~PackedWeight();
  PackedWeight(const PackedWeight&) = delete;
  PackedWeight& operator=(const PackedWeight&) = delete;

  /// Of its numbers.
  [[nodiscard]] Storage storage() const;
  /// Width of what is multiplied with it.
  [[nodiscard]] std::int64_t in() const;
  /// Width of the product.
  [[nodiscard]] std::int64_t out() const;
  /// That it takes.
  [[nodiscard]] std::size_t bytes() const;
  /// Its numbers as they were given, rounded as the storage does: [in, out] or [out, in].
  [[nodiscard]] Tensor unpacked(MatrixLayout layout) const;
  /// f(x W + b): x [.., in] to [.., out]; bias [out] or empty. A row gives the same bytes whatever the others are.
  [[nodiscard]] Tensor product(const Tensor& x, const Tensor& bias = {},
                               Activation activation = Activation::none) const;
  /// For the library's own products.
  [[nodiscard]] const kernels::PackedMatrix& matrix() const { return *matrix_; }

 private:
  std::unique_ptr<const kernels::PackedMatrix> matrix_;
  std::shared_ptr<const void> owner_;  // of memory that was packed before
};

}  // namespace fovea
