// a layer of units: matrix product, bias and activation
//   forward   z = x W + b,  y = f(z)                      x [.., in], W [in, out], b [out]
//   backward  dz = dy f'(z),  dx = dz W',  dW = x' dz,  db = sum of dz's rows
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

using kernels::Trans;

kernels::Activation kernel_activation(Activation a) {
  return static_cast<kernels::Activation>(a);
}
static_assert(static_cast<int>(kernels::Activation::sigmoid) == static_cast<int>(Activation::sigmoid));

}  // namespace

Var linear(const Var& x, const Var& w, const Var& bias, Activation activation) {
  if (x.rank() < 1 || w.rank() != 2 || x.dim(-1) != w.dim(0) || (bias && !(bias.shape() == Shape{w.dim(1)}))) {
    throw ShapeError(fmt::format("linear: x {}, weight {}{}; x [.., in], weight [in, out] and bias [out] are needed",
                                 x.shape().text(), w.shape().text(), bias ? ", bias " + bias.shape().text() : ""));
  }
  const Tensor in = x.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const std::int64_t k = w.dim(0);
  const std::int64_t n = w.dim(1);
  const std::int64_t m = k > 0 ? in.size() / k : 0;
  Shape shape = x.shape();
  shape.set(-1, n);
  const Tensor y = Tensor::empty(shape);
  kernels::parallel_gemm(Trans::no, Trans::no, m, n, k, in.data(), k, weight.data(), n, 0.0F, y.data(), n);
  Tensor before;  // what gelu's gradient needs; the others' need y
  if (bias || activation != Activation::none) {
    if (activation == Activation::gelu && recording({x, w, bias})) before = y.clone();
    kernels::active().rows->bias_activation({.rows = m,
                                             .width = n,
                                             .activation = kernel_activation(activation),
                                             .x = y.data(),
                                             .bias = bias ? bias.value().data() : nullptr,
                                             .y = y.data()});
  }
  const auto backward = [x, w, bias, in, weight, y, before, activation, m, n, k](const Tensor& dy) {
    Tensor dz = dy;
    float* dbias = nullptr;
    if (bias && bias.requires_grad()) {
      const GradTarget target = bias.grad_target();
      if (!target.add) target.tensor.fill(0.0F);
      dbias = target.tensor.data();
    }
    if (activation != Activation::none) {
      dz = Tensor::empty(dy.shape());
      kernels::active().rows->bias_activation_backward({.rows = m,
                                                        .width = n,
                                                        .activation = kernel_activation(activation),
                                                        .x = before ? before.data() : nullptr,
                                                        .bias = bias ? bias.value().data() : nullptr,
                                                        .y = y.data(),
                                                        .dy = dy.data(),
                                                        .dx = dz.data(),
                                                        .dbias = dbias});
    } else if (dbias != nullptr) {
      kernels::active().rows->column_sums(dy.data(), dbias, m, n);
    }
    if (x.requires_grad()) {
      const GradTarget dx = x.grad_target();
      kernels::parallel_gemm(Trans::no, Trans::yes, m, k, n, dz.data(), n, weight.data(), n, dx.add ? 1.0F : 0.0F,
                             dx.tensor.data(), k);
    }
    if (w.requires_grad()) {
      const GradTarget dw = w.grad_target();
      kernels::parallel_gemm(Trans::yes, Trans::no, k, n, m, in.data(), k, dz.data(), n, dw.add ? 1.0F : 0.0F,
                             dw.tensor.data(), n);
    }
  };
  if (bias) return record(y, {x, w, bias}, backward);
  return record(y, {x, w}, backward);
}

}  // namespace fovea
