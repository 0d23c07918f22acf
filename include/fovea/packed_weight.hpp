// Matrices in int8, and in the form that inference multiplies with.
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
}

/// Which way round a layer multiplies with a matrix: x W with W [in, out], or x W' with W [out, in], whose rows are
/// outputs, as in an embedding that is also the output layer.
enum class MatrixLayout { in_out, out_in };

/// A matrix [rows, columns] in int8 as files store it, independent of how products lay it out: q times the scale of its
/// column, or of its row.
struct Int8Matrix {
  /// Rounds a matrix whose numbers are finite, with a scale for each output.
  [[nodiscard]] static Int8Matrix of(const Tensor& w, MatrixLayout layout);
  /// q * scale, [rows, columns].
  [[nodiscard]] Tensor values() const;
  [[nodiscard]] Shape shape() const { return {rows, columns}; }  // of the matrix
  /// Which way round it can be multiplied with.
  [[nodiscard]] MatrixLayout layout() const {
    return scale.dim(0) == 1 && scale.dim(1) == columns ? MatrixLayout::in_out : MatrixLayout::out_in;
  }

  std::int64_t rows = 0, columns = 0;   // of the matrix
  std::span<const std::int8_t> q{};     // [rows * columns]
  Tensor scale{};                       // [1, columns], or [rows, 1]
  std::shared_ptr<const void> owner{};  // of q
};

/// A matrix laid out, and perhaps rounded, for products. It does not follow later changes of the weight.
///
///     const PackedWeight packed(w, MatrixLayout::in_out, Storage::int8);
///     const Tensor y = packed.product(x, bias, Activation::relu);  // [.., in] to [.., out]
class PackedWeight {
 public:
  /// `w` [in, out] or [out, in].
  PackedWeight(const Tensor& w, MatrixLayout layout, Storage storage);
  /// A matrix in int8, which stays as it is. Throws UsageError unless fits().
  explicit PackedWeight(const Int8Matrix& w);
  /// Some outputs of one in int8, in this order.
  PackedWeight(const PackedWeight& from, std::span<const std::int32_t> outputs);
  ~PackedWeight();
  PackedWeight(const PackedWeight&) = delete;
  PackedWeight& operator=(const PackedWeight&) = delete;

  /// Whether products in int8 can take the matrix with its own rounding: no q is -128, and there are not too many
  /// inputs.
  [[nodiscard]] static bool fits(const Int8Matrix& w);

  /// The type of its numbers.
  [[nodiscard]] Storage storage() const;
  /// Width of what is multiplied with it.
  [[nodiscard]] std::int64_t in() const;
  /// Width of the product.
  [[nodiscard]] std::int64_t out() const;
  /// Its size in memory.
  [[nodiscard]] std::size_t bytes() const;
  /// Its numbers, rounded to its storage: [in, out] or [out, in].
  [[nodiscard]] Tensor unpacked(MatrixLayout layout) const;
  /// f(x W + b): x [.., in] to [.., out]; bias [out] or empty. A row gives the same bytes with any other rows.
  [[nodiscard]] Tensor product(const Tensor& x, const Tensor& bias = {},
                               Activation activation = Activation::none) const;

 private:
  friend const kernels::PackedMatrix& matrix_of(const PackedWeight& weight);

  std::unique_ptr<const kernels::PackedMatrix> matrix_;
};

}  // namespace fovea
