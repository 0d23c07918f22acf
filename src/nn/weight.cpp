// A matrix packed for inference in float32, and products with it.
#include "nn/weight.hpp"

#include "kernels/gemm.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea {
namespace {

class PackedF32 final : public PackedWeight {
 public:
  PackedF32(const Tensor& w, MatrixLayout layout)
      : matrix_(layout == MatrixLayout::in_out
                    ? kernels::PackedMatrix(kernels::Trans::no, w.dim(0), w.dim(1), w.data(), w.dim(1))
                    : kernels::PackedMatrix(kernels::Trans::yes, w.dim(1), w.dim(0), w.data(), w.dim(1))) {}

  [[nodiscard]] Storage storage() const override { return Storage::f32; }
  [[nodiscard]] std::int64_t in() const override { return matrix_.rows(); }
  [[nodiscard]] std::int64_t out() const override { return matrix_.columns(); }
  [[nodiscard]] Tensor product(const Tensor& x, const Tensor& bias, Activation activation) const override {
    const Tensor rows = x.contiguous();
    Shape shape = rows.shape();
    shape.set(-1, out());
    Tensor y = Tensor::empty(shape);
    kernels::parallel_gemm_packed(rows.size() / in(), rows.data(), in(), matrix_, 0.0F, y.data(), out(),
                                  {.bias = bias ? bias.data() : nullptr, .activation = activation});
    return y;
  }

 private:
  kernels::PackedMatrix matrix_;
};

}  // namespace

std::shared_ptr<const PackedWeight> pack_f32(const Tensor& w, MatrixLayout layout) {
  return std::make_shared<PackedF32>(w.contiguous(), layout);
}

Tensor Weight::product(const Tensor& x, const Tensor& bias, Activation activation) const {
  if (packed) return packed->product(x, bias, activation);
  const Tensor rows = x.contiguous();
  const Tensor w = var.value().contiguous();
  Shape shape = rows.shape();
  shape.set(-1, out());
  Tensor y = Tensor::empty(shape);
  kernels::parallel_gemm(kernels::Trans::no, layout == MatrixLayout::in_out ? kernels::Trans::no : kernels::Trans::yes,
                         rows.size() / in(), out(), in(), rows.data(), in(), w.data(), w.dim(1), 0.0F, y.data(), out(),
                         {.bias = bias ? bias.data() : nullptr, .activation = activation});
  return y;
}

}  // namespace fovea
