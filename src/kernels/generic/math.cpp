#include "kernels/math.hpp"

#include <cmath>

namespace fovea::kernels::generic {
namespace {

void exp(const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}

}  // namespace

extern const MathKernels math;
const MathKernels math = {.exp = exp};

}  // namespace fovea::kernels::generic
