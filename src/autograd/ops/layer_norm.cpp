// layer normalisation over the last axis (Ba et al. 2016)
//   forward   y = gain * n + bias,  n = (x - mean) * r,  r = 1 / sqrt(variance + 1e-5)
//   backward  with g = dy * gain:  dx = r * (g - mean(g) - n * mean(g * n)),  dgain = sum dy * n,  dbias = sum dy
// residual_norm joins it with the sum before it, in one pass over memory:
//   forward   h = x + dropout(y),  z = layer_norm(h)
//   backward  dh' = dh + layer_norm'(dz),  dx = dh',  dy = dropout'(dh')
#include <fmt/format.h>

#include <array>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/random.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

void check(const char* op, const Var& x, const Var& gain, const Var& bias) {
  if (x.rank() == 0 || !(gain.shape() == Shape{x.dim(-1)}) || !(bias.shape() == gain.shape())) {
    throw ShapeError(
        fmt::format("{}: {} with gain {} and bias {}", op, x.shape().text(), gain.shape().text(), bias.shape().text()));
  }
}

float* cleared(const GradTarget& target) {
  if (!target.add) target.tensor.fill(0.0F);
  return target.tensor.data();
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias) {
  check("layer_norm", x, gain, bias);
  const Tensor in = x.value().contiguous();
  const std::int64_t width = in.dim(-1);
  const std::int64_t rows = width > 0 ? in.size() / width : 0;
  const Tensor y = Tensor::empty(in.shape());
  const Tensor stats = Tensor::empty({2, rows});  // mean, r
  kernels::active().rows->layer_norm({.rows = rows,
                                      .width = width,
                                      .x = in.data(),
                                      .gamma = gain.value().data(),
                                      .beta = bias.value().data(),
                                      .y = y.data(),
                                      .mean = stats.data(),
                                      .rstd = stats.data() + rows});
  return record(y, {x, gain, bias}, [x, gain, bias, in, stats, rows, width](const Tensor& dy) {
    const GradTarget dx = x.requires_grad() ? x.grad_target() : GradTarget{Tensor::empty(in.shape()), false};
    kernels::active().rows->layer_norm_backward(
        {.rows = rows,
         .width = width,
         .x = in.data(),
         .gamma = gain.value().data(),
         .mean = stats.data(),
         .rstd = stats.data() + rows,
         .dy = dy.data(),
         .dx = dx.tensor.data(),
         .add = dx.add,
         .dgamma = gain.requires_grad() ? cleared(gain.grad_target()) : nullptr,
         .dbeta = bias.requires_grad() ? cleared(bias.grad_target()) : nullptr});
  });
}

ResidualNorm residual_norm(const Var& x, const Var& y, const Var& gain, const Var& bias, float rate,
                           std::uint64_t seed) {
  check("residual_norm", x, gain, bias);
  if (!(x.shape() == y.shape())) {
    throw ShapeError(fmt::format("residual_norm: {} and {} differ", x.shape().text(), y.shape().text()));
  }
  const Tensor in = x.value().contiguous();
  const Tensor branch = y.value().contiguous();
  const std::int64_t width = in.dim(-1);
  const std::int64_t rows = width > 0 ? in.size() / width : 0;
  const Tensor h = Tensor::empty(in.shape());
  const Tensor z = Tensor::empty(in.shape());
  const Tensor stats = Tensor::empty({2, rows});
  const kernels::Dropout drop{.rate = rate, .seed = seed};
  kernels::active().rows->layer_norm({.rows = rows,
                                      .width = width,
                                      .x = in.data(),
                                      .gamma = gain.value().data(),
                                      .beta = bias.value().data(),
                                      .y = z.data(),
                                      .mean = stats.data(),
                                      .rstd = stats.data() + rows,
                                      .residual = branch.data(),
                                      .dropout = drop,
                                      .h = h.data()});
  ResidualNorm out;
  const std::array<Var, 4> inputs{x, y, gain, bias};
  record({{&out.sum, h}, {&out.normed, z}}, inputs,
         [x, y, gain, bias, h, stats, rows, width, drop](std::span<const Tensor> d) {
           // dh' is gathered in x's gradient when nothing else has reached it yet, else in a tensor of its own.
           Tensor total = d[0] ? (d[0].unique() ? d[0] : d[0].clone()) : Tensor();
           if (d[1]) {
             const bool add = static_cast<bool>(total);
             if (!add) total = Tensor::empty(h.shape());
             kernels::active().rows->layer_norm_backward(
                 {.rows = rows,
                  .width = width,
                  .x = h.data(),
                  .gamma = gain.value().data(),
                  .mean = stats.data(),
                  .rstd = stats.data() + rows,
                  .dy = d[1].data(),
                  .dx = total.data(),
                  .add = add,
                  .dgamma = gain.requires_grad() ? cleared(gain.grad_target()) : nullptr,
                  .dbeta = bias.requires_grad() ? cleared(bias.grad_target()) : nullptr});
           }
           if (y.requires_grad()) {
             if (drop.rate > 0) {
               const GradTarget dy = y.grad_target();
               kernels::active().random->dropout(drop, total.data(), dy.tensor.data(), total.size(), dy.add);
             } else {
               y.accumulate(total);
             }
           }
           x.accumulate(total);
         });
  return out;
}

}  // namespace fovea
