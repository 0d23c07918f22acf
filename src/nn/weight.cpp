// Products with a weight, packed or not.
#include "fovea/nn/weight.hpp"

#include "kernels/gemm.hpp"

namespace fovea {

Var Weight::values() const {
  return var ? var : Var(packed->unpacked(layout));
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
