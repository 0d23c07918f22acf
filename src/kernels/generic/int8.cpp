#include "kernels/int8.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea::kernels::generic {
namespace {

void block(const Int8Block& t) {
  for (std::int64_t i = 0; i < t.m; ++i) {
    const std::int8_t* a = t.a + i * t.depth;
    float* c = t.c + i * t.c_row;
    for (std::int64_t j = 0; j < t.n; ++j) {
      const std::int8_t* b = t.b + j / kInt8Columns * kInt8Columns * t.depth + j % kInt8Columns * 4;
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < t.depth; ++p) sum += a[p] * b[p / 4 * kInt8Columns * 4 + p % 4];
      const float start = t.bias != nullptr ? t.bias[j] : t.beta != 0.0F ? t.beta * c[j] : 0.0F;
      c[j] = std::fma(static_cast<float>(sum), t.a_scale[i] * t.b_scale[j], start);
    }
  }
}

float quantize(std::int64_t k, const float* x, std::int8_t* q) {
  float most = 0;
  bool finite = true;
  for (std::int64_t p = 0; p < k; ++p) {
    most = std::max(most, std::abs(x[p]));
    finite = finite && std::isfinite(x[p]);
  }
  std::fill_n(q, int8_depth(k), std::int8_t{0});
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  const float factor = 127.0F / most;
  if (!std::isfinite(factor)) return 0;  // all zero, or too near for the scale to be a number
  for (std::int64_t p = 0; p < k; ++p) q[p] = static_cast<std::int8_t>(std::nearbyint(x[p] * factor));
  return most / 127.0F;
}

double peak(std::int64_t rounds) {
  volatile std::int32_t start = 1;
  std::int32_t sums[32] = {};
  const std::int32_t factor = start;
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (std::int32_t& sum : sums) sum += static_cast<std::int8_t>(sum) * factor;
  }
  std::int32_t total = 0;
  for (const std::int32_t sum : sums) total += sum;
  start = total;
  return 2.0 * 32 * static_cast<double>(rounds);
}

}  // namespace

extern const Int8Kernels int8;
const Int8Kernels int8 = {.block = block, .quantize = quantize, .peak = peak};

}  // namespace fovea::kernels::generic
