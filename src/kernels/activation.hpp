// Activation as the kernels take it.
#pragma once

#include "fovea/activation.hpp"

namespace fovea::kernels {

using fovea::Activation;

inline constexpr float kLeakySlope = 0.2F;  // of leaky_relu, below 0

/// Whether the gradient is computed from x; that of the others comes from y, so that x need not be kept.
constexpr bool gradient_needs_x(Activation f) {
  return f == Activation::gelu || f == Activation::swish;
}

}  // namespace fovea::kernels
