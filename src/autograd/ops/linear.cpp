// a layer of units: matrix product, bias, activation and dropout
//   forward   z = x W + b,  y = m f(z)                    x [.., in], W [in, out], b [out], m the mask of dropout
//   backward  dz = m dy f'(z),  dx = dz W',  dW = x' dz,  db = sum of dz's rows
// All of it is applied while the product is in the cache. z is kept only where gradient_needs_x().
#include <fmt/format.h>

#include <algorithm>

#include "autograd/dropout.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

using kernels::Trans;

constexpr std::int64_t kRowsPerTask = 256;  // fixed, so that sums over rows do not depend on the threads

// dz, and into the bias's gradient its sum over rows. `kept` is y, or z where gradient_needs_x().
Tensor through_activation(Activation activation, const kernels::Dropout& dropout, const Tensor& kept, const Tensor& dy,
                          const Var& bias, std::int64_t m, std::int64_t n) {
  const bool plain = activation == Activation::none && dropout.rate == 0;
  const bool sums = bias && bias.requires_grad();
  Tensor dz = plain ? dy : Tensor::empty(dy.shape());
  if (plain && !sums) return dz;
  const std::int64_t tasks = std::max<std::int64_t>(1, (m + kRowsPerTask - 1) / kRowsPerTask);
  const Tensor partial = sums ? Tensor::zeros({tasks, n}) : Tensor();
  const auto& kernels = *kernels::active().rows;
  parallel_for(m, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    float* dbias = sums ? partial.data() + begin / kRowsPerTask * n : nullptr;
    if (plain) return kernels.column_sums(dy.data() + begin * n, dbias, end - begin, n);
    const float* from = kept ? kept.data() + begin * n : nullptr;
    kernels.bias_activation_backward({.rows = end - begin,
                                      .width = n,
                                      .activation = activation,
                                      .x = from,
                                      .y = from,
                                      .dropout = from_value(dropout, begin * n),
                                      .dy = dy.data() + begin * n,
                                      .dx = dz.data() + begin * n,
                                      .dbias = dbias});
  });
  if (sums) {
    if (tasks > 1) kernels.column_sums(partial.data() + n, partial.data(), tasks - 1, n);
    bias.accumulate(partial.select(0, 0));
  }
  return dz;
}

}  // namespace

Var linear(const Var& x, const Var& w, const Var& bias, Activation activation, const Dropout& how) {
  if (x.rank() < 1 || w.rank() != 2 || x.dim(-1) != w.dim(0) || (bias && !(bias.shape() == Shape{w.dim(1)}))) {
    throw ShapeError(fmt::format("linear: x {}, weight {}{}; x [.., in], weight [in, out] and bias [out] are needed",
                                 x.shape().text(), w.shape().text(),
                                 bias ? fmt::format(", bias {}", bias.shape().text()) : std::string()));
  }
  const kernels::Dropout dropout = make_dropout("linear", how);
  const Tensor in = x.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const Tensor b = bias ? bias.value().contiguous() : Tensor();
  const std::int64_t k = w.dim(0);
  const std::int64_t n = w.dim(1);
  Shape shape = x.shape();
  shape.set(-1, n);
  const std::int64_t m = shape.leading().size();
  const bool keep_sums = kernels::gradient_needs_x(activation) && recording({x, w, bias});
  const Tensor z = Tensor::empty(shape);
  kernels::parallel_gemm(Trans::no, Trans::no, m, n, k, in.data(), k, weight.data(), n, 0.0F, z.data(), n,
                         {.bias = b ? b.data() : nullptr,
                          .activation = keep_sums ? Activation::none : activation,
                          .dropout = keep_sums ? kernels::Dropout{} : dropout});
  Tensor y = z;
  if (keep_sums) {
    y = Tensor::empty(shape);
    const kernels::Map f = kernels::active().math->of(activation);
    parallel_for(z.size(), kRowsPerTask * 64, [&](std::int64_t begin, std::int64_t end) {
      f(z.data() + begin, y.data() + begin, static_cast<std::size_t>(end - begin));
      if (dropout.rate == 0) return;
      kernels::active().random->dropout(from_value(dropout, begin), y.data() + begin, y.data() + begin, end - begin,
                                        false);
    });
  }
  const Tensor kept = activation == Activation::none ? Tensor() : z;
  return record(y, {x, w, bias}, [=](const Tensor& gradient) {
    const Tensor dz = through_activation(activation, dropout, kept, gradient.contiguous(), bias, m, n);
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
  });
}

}  // namespace fovea
