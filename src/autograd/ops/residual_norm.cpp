// a residual connection and the layer norm after it, in one pass
//   forward   sum = x + dropout(y),  normed = layer_norm(sum)
//   backward  d = dsum + (layer_norm's dx of dnormed),  dx = d,  dy = dropout's mask * d
// A post-norm Transformer continues with `normed` alone, a pre-norm one with both.
#include <fmt/format.h>

#include "autograd/dropout.hpp"
#include "autograd/elementwise.hpp"
#include "autograd/layer_norm.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"

namespace fovea {
namespace {

// y's gradient: what dropout kept of d.
void add_kept(const Var& y, const kernels::Dropout& how, const Tensor& d) {
  if (how.rate == 0) {
    y.accumulate(d);
    return;
  }
  const GradTarget target = y.grad_target();
  elementwise(d.size(), [&](std::int64_t i, std::size_t n) {
    kernels::active().random->dropout(from_value(how, i), d.data() + i, target.tensor.data() + i,
                                      static_cast<std::int64_t>(n), target.add);
  });
}

}  // namespace

ResidualNorm residual_norm(const Var& x, const Var& y, const Var& gain, const Var& bias,
                           const ResidualNormOptions& how) {
  check_layer_norm("residual_norm", x, gain, bias);
  const kernels::Dropout dropout = make_dropout("residual_norm", how.dropout);
  if (!(x.shape() == y.shape())) {
    throw ShapeError(fmt::format("residual_norm: {} and {} differ", x.shape().text(), y.shape().text()));
  }
  const Tensor sum = Tensor::empty(x.shape());
  const Tensor normed = Tensor::empty(x.shape());
  const Normalised kept = normalise({.x = x.value().contiguous(),
                                     .residual = y.value().contiguous(),
                                     .dropout = dropout,
                                     .sum = sum,
                                     .gain = gain,
                                     .bias = bias,
                                     .epsilon = how.epsilon,
                                     .y = normed});
  const auto backward = [x, y, gain, bias, kept, dropout](std::span<const Tensor> d) {
    // d's first is added to in place unless it is another value's gradient too.
    Tensor total = d[0] && !d[0].unique() ? d[0].clone() : d[0];
    if (d[1]) {
      const bool add = static_cast<bool>(total);
      if (!add) total = Tensor::empty(kept.x.shape());
      normalise_backward(kept, gain, bias, d[1], {total, add});
    }
    if (y.requires_grad()) add_kept(y, dropout, total);
    x.accumulate(total);
  };
  ResidualNorm out;
  const Var inputs[] = {x, y, gain, bias};
  record({{&out.sum, sum}, {&out.normed, normed}}, std::span<const Var>(inputs, gain ? 4 : 2), backward);
  return out;
}

}  // namespace fovea
