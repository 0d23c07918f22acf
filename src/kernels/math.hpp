// Elementwise functions.
#pragma once

#include <cstddef>

namespace fovea::kernels {

struct MathKernels {
  void (*exp)(const float* x, float* y, std::size_t n);  // y may be x
};

}  // namespace fovea::kernels
