// Kernels of an optimiser, on one piece of a parameter.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// One step of Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019) and clipping:
///   x = factor * g,  m = beta1 m + (1 - beta1) x,  v = beta2 v + (1 - beta2) x^2
///   w = shrink * w - speed * m / (sqrt(v) + epsilon)
/// `factor` holds the clipping; the corrections of the moments' bias are in speed = rate sqrt(c2) / c1 and
/// epsilon = e sqrt(c2), with c1 = 1 - beta1^step and c2 = 1 - beta2^step; shrink = 1 - rate * decay.
struct AdamStep {
  float factor = 1;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float speed = 0;
  float epsilon = 0;
  float shrink = 1;
  float average = 0;  // of the weights' exponential mean: mean = average * mean + (1 - average) * w
};

struct OptimKernels {
  /// Updates m, v, w and, unless it is null, mean, in one pass.
  void (*adam)(const AdamStep& step, const float* g, float* m, float* v, float* w, float* mean, std::int64_t n);
  /// The sum of x^2, gathered in double.
  double (*sum_of_squares)(const float* x, std::int64_t n);
  /// mean = average * mean + (1 - average) * w.
  void (*average)(float average, const float* w, float* mean, std::int64_t n);
};

}  // namespace fovea::kernels
