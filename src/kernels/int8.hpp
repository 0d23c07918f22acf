// Products of matrices in int8 with exact sums: rows of A are rounded while they are multiplied, B was before.
#pragma once

#include <cstdint>

namespace fovea::kernels {

constexpr std::int64_t kInt8Columns = 16;       // of a panel of B
constexpr std::int64_t kInt8Depth = 64;         // what k is filled up to, with zeros
constexpr std::int64_t kInt8Longest = 1 << 16;  // of k: longer sums could leave int32

/// k as it is packed.
constexpr std::int64_t int8_depth(std::int64_t k) {
  return (k + kInt8Depth - 1) / kInt8Depth * kInt8Depth;
}

/// C(i,j) = start + a_scale[i] * b_scale[j] * sum over p of A(i,p) B(p,j), where start is bias[j] if given, else
/// beta C(i,j). The sum is exact, what follows is one multiplication and one fused multiply-add: every variant gives
/// the same bytes, whatever m and n are.
struct Int8Block {
  std::int64_t m = 0, n = 0;
  std::int64_t depth = 0;               // k, a multiple of 64
  const std::int8_t* a = nullptr;       // [m, depth], as `quantize` of the same kernels gives it
  const float* a_scale = nullptr;       // [m]
  const std::int8_t* b = nullptr;       // [n / 16, rounded up][depth / 4][16 columns][4 of k], all within +-127
  const float* b_scale = nullptr;       // [n], filled up to whole panels
  const std::int32_t* b_sum = nullptr;  // [n], the same: the sum of each column
  float beta = 0;
  const float* bias = nullptr;  // [n]
  float* c = nullptr;
  std::int64_t c_row = 0;
};

struct Int8Kernels {
  void (*block)(const Int8Block& block);
  /// Rounds x [k] to q * scale with q within +-127 and gives the scale, max |x| / 127; NaN where x holds a number that
  /// is not finite. `q` has int8_depth(k) places, in the form that `block` reads.
  float (*quantize)(std::int64_t k, const float* x, std::int8_t* q);
  /// The register-only loop that defines the peak: `rounds` rounds; returns how many operations it did.
  double (*peak)(std::int64_t rounds);
};

}  // namespace fovea::kernels
