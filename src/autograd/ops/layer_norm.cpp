// layer normalisation over the last axis (Ba et al. 2016), n its size
//   forward   s = (x - mean) * rstd,  rstd = 1 / sqrt(var + epsilon),  y = s * gain + bias
//   backward  g = dy * gain,  dx = rstd * (g - sum(g) / n - s * sum(g * s) / n)
//             dgain = sum over rows of dy * s,  dbias = sum over rows of dy
#include "autograd/layer_norm.hpp"

#include "fovea/ops.hpp"

namespace fovea {

Var layer_norm(const Var& x, const Var& gain, const Var& bias, const LayerNormOptions& how) {
  check_layer_norm("layer_norm", x, gain, bias);
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  const Normalised kept = normalise({.x = in, .gain = gain, .bias = bias, .epsilon = how.epsilon, .y = y});
  const auto backward = [x, gain, bias, kept](const Tensor& dy) {
    const GradTarget dx = x.requires_grad() ? x.grad_target() : GradTarget{Tensor::empty(dy.shape()), false};
    normalise_backward(kept, gain, bias, dy, dx);
  };
  return gain ? record(y, {x, gain, bias}, backward) : record(y, {x}, backward);
}

}  // namespace fovea
