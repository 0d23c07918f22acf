#include "kernels/random.hpp"

namespace fovea::kernels::generic {
namespace {

void dropout(const Dropout& how, const float* x, float* y, std::int64_t n, bool add) {
  const std::int32_t threshold = dropout_threshold(how.rate);
  const float scale = 1 / (1 - how.rate);
  for (std::int64_t i = 0; i < n; ++i) {
    const bool kept = dropout_keeps(how.seed, how.counter + static_cast<std::uint64_t>(i), threshold);
    y[i] = (kept ? x[i] * scale : 0.0F) + (add ? y[i] : 0.0F);
  }
}

}  // namespace

extern const RandomKernels random;
const RandomKernels random = {.dropout = dropout};

}  // namespace fovea::kernels::generic
