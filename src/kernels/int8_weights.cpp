#include "kernels/int8_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fovea::kernels {
namespace {

// Rounds to the nearest whole number, ties to even: in a float of this size the last bit is worth 1. Unlike
// std::nearbyint it becomes vector code.
constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23

float inverse(float scale) {
  return scale > 0 ? 1.0F / scale : 0.0F;
}

std::int8_t rounded(float x, float by) {
  return static_cast<std::int8_t>(static_cast<std::int32_t>((x * by + kRounder) - kRounder));
}

}  // namespace

float int8_scale(float largest) {
  const float scale = largest / 127.0F;
  if (!(scale > 1e-36F)) return 0;  // its inverse might not be a number
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  return std::bit_cast<float>((bits + 0xFFU) & ~0xFFU);
}

void int8_scales(const Int8Source& from, float* scales) {
  std::fill_n(scales, from.n, 0.0F);
  if (from.row == 1) {
    for (std::int64_t j = 0; j < from.n; ++j) {
      const float* x = from.b + j * from.column;
      float largest = 0;
#pragma omp simd reduction(max : largest)
      for (std::int64_t p = 0; p < from.k; ++p) largest = std::max(largest, std::abs(x[p]));
      scales[j] = largest;
    }
  } else {
    for (std::int64_t p = 0; p < from.k; ++p) {
      const float* x = from.b + p * from.row;
#pragma omp simd
      for (std::int64_t j = 0; j < from.n; ++j) scales[j] = std::max(scales[j], std::abs(x[j * from.column]));
    }
  }
  for (std::int64_t j = 0; j < from.n; ++j) scales[j] = int8_scale(scales[j]);
}

void int8_round(std::int64_t count, const float* x, float scale, std::int8_t* q) {
  const float by = inverse(scale);
  for (std::int64_t i = 0; i < count; ++i) q[i] = rounded(x[i], by);
}

void int8_pack(const Int8Source& from, const float* scales, std::int64_t begin, std::int64_t end, std::int8_t* panels,
               std::int32_t* sums) {
  const std::int64_t depth = int8_depth(from.k);
  for (std::int64_t first = begin; first < end; first += kInt8Columns) {
    std::int8_t* panel = panels + first * depth;
    const std::int64_t width = std::min(kInt8Columns, end - first);
    std::fill_n(panel, kInt8Columns * depth, std::int8_t{0});
    std::fill_n(sums + first, kInt8Columns, 0);
    for (std::int64_t c = 0; c < width; ++c) {
      const float by = inverse(scales[first + c]);
      const float* x = from.b + (first + c) * from.column;
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < from.k; ++p) {
        const std::int8_t q = rounded(x[p * from.row], by);
        panel[p / 4 * kInt8Columns * 4 + c * 4 + p % 4] = q;
        sum += q;
      }
      sums[first + c] = sum;
    }
  }
}

}  // namespace fovea::kernels
