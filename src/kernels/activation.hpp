// Activation as the kernels take it.
#pragma once

#include "fovea/activation.hpp"

namespace fovea::kernels {

using fovea::Activation;

inline constexpr float kLeakySlope = 0.2F;  // of leaky_relu, below 0

// gelu_tanh(x) = x sigmoid(x (kGeluLinear + kGeluCubic x^2)), since (1 + tanh(u)) / 2 = sigmoid(2 u).
inline constexpr float kGeluLinear = 2 * 0.7978845608F;  // twice sqrt(2 / pi)
inline constexpr float kGeluCubic = 0.044715F * kGeluLinear;

/// Whether the gradient is computed from x; that of the others comes from y, so that x need not be kept.
constexpr bool gradient_needs_x(Activation f) {
  return f == Activation::gelu || f == Activation::gelu_tanh || f == Activation::swish;
}

}  // namespace fovea::kernels
