#include "kernels/conv.hpp"

#include <cmath>

namespace fovea::kernels::generic {
namespace {

void glu_forward(std::int64_t d, float* sums, const float* bias, float* out) {
  for (std::int64_t i = 0; i < d; ++i) {
    const float a = sums[i] + bias[i];
    const float s = 1.0F / (1.0F + std::exp(-(sums[d + i] + bias[d + i])));
    sums[i] = a;
    sums[d + i] = s;
    out[i] = a * s;
  }
}

void glu_backward(std::int64_t d, float* kept, const float* dout, float* dbias) {
  for (std::int64_t i = 0; i < d; ++i) {
    const float a = kept[i];
    const float s = kept[d + i];
    const float da = dout[i] * s;
    const float dg = da * a * (1.0F - s);
    kept[i] = da;
    kept[d + i] = dg;
    dbias[i] += da;
    dbias[d + i] += dg;
  }
}

void max_update(std::int64_t n, const float* x, std::int32_t place, float* best, std::int32_t* where) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] > best[i] || (std::isnan(x[i]) && !std::isnan(best[i]))) {
      best[i] = x[i];
      where[i] = place;
    }
  }
}

void max_gradient(std::int64_t n, const float* dy, const std::int32_t* where, std::int32_t place, float* dx) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (where[i] == place) dx[i] += dy[i];
  }
}

}  // namespace

extern const ConvKernels conv;
const ConvKernels conv = {
    .glu_forward = glu_forward,
    .glu_backward = glu_backward,
    .max_update = max_update,
    .max_gradient = max_gradient,
};

}  // namespace fovea::kernels::generic
