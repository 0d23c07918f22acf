#include "kernels/optim.hpp"

#include <cmath>

namespace fovea::kernels::generic {
namespace {

void average(float a, const float* w, float* mean, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) mean[i] = a * mean[i] + (1 - a) * w[i];
}

void adam(const AdamStep& s, const float* g, float* m, float* v, float* w, float* mean, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = s.factor * g[i];
    m[i] = s.beta1 * m[i] + (1 - s.beta1) * x;
    v[i] = s.beta2 * v[i] + (1 - s.beta2) * x * x;
    w[i] = s.shrink * w[i] - s.speed * m[i] / (std::sqrt(v[i]) + s.epsilon);
  }
  if (mean != nullptr) average(s.average, w, mean, n);
}

double sum_of_squares(const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace

extern const OptimKernels optim;
const OptimKernels optim = {.adam = adam, .sum_of_squares = sum_of_squares, .average = average};

}  // namespace fovea::kernels::generic
