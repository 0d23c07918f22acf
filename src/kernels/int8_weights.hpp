// A matrix rounded to int8 with a scale per column of op(B), and packed for Int8Kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/int8.hpp"

namespace fovea::kernels {

/// The scale of numbers whose largest magnitude is `largest`: largest / 127, rounded up to 16 bits, so that 127 times
/// the scale is a float and rounding twice gives the same numbers. 0 for magnitudes too near zero.
[[nodiscard]] float int8_scale(float largest);

/// The columns of op(B)[k,n]: op(B)(p,j) = b[p * row + j * column]. The numbers must be finite.
struct Int8Source {
  std::int64_t k = 0, n = 0;
  const float* b = nullptr;
  std::int64_t row = 0, column = 0;
};

/// The scale of each column.
void int8_scales(const Int8Source& from, float* scales);
/// q[i] for every number in the order of memory, given `count` numbers that share a scale.
void int8_round(std::int64_t count, const float* x, float scale, std::int8_t* q);
/// y = q * scale, with a scale for all or for each.
void int8_widen(std::int64_t count, const std::int8_t* q, float scale, float* y);
void int8_widen(std::int64_t count, const std::int8_t* q, const float* scales, float* y);

/// op(B)[k,n] in int8 already: op(B)(p,j) is q[p * row + j * column] times a scale of its column.
struct Int8Rounded {
  std::int64_t k = 0, n = 0;
  const std::int8_t* q = nullptr;
  std::int64_t row = 0, column = 0;
};
/// As int8_pack(), which follows, without rounding.
void int8_pack(const Int8Rounded& from, std::int64_t begin, std::int64_t end, std::int8_t* panels, std::int32_t* sums);

/// Columns `begin` to `end` (a multiple of 16, or n) as panels, and the sums of their columns.
void int8_pack(const Int8Source& from, const float* scales, std::int64_t begin, std::int64_t end, std::int8_t* panels,
               std::int32_t* sums);

}  // namespace fovea::kernels
