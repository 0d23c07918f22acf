#include "kernels/int8_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace fovea::kernels {
namespace {

// Rounds to the nearest whole number, ties to even: in a float of this size the last bit is worth 1. Unlike
// std::nearbyint it becomes vector code.
constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23

float inverse(float scale) {
  return scale > 0 ? 1.0F / scale : 0.0F;
}

std::int32_t whole(float x, float by) {
  return static_cast<std::int32_t>((x * by + kRounder) - kRounder);
}

std::int8_t rounded(float x, float by) {
  return static_cast<std::int8_t>(whole(x, by));
}

// Four rows of kInt8Columns numbers as [column][4], and the sum of each column added to `total`.
void interleave(const std::int8_t* from, std::int64_t row, std::int8_t* to, std::int32_t* total) {
  std::array<std::uint32_t, kInt8Columns> four;
#pragma omp simd
  for (std::size_t c = 0; c < kInt8Columns; ++c) {
    const std::int32_t q0 = from[c], q1 = (from + row)[c], q2 = (from + 2 * row)[c], q3 = (from + 3 * row)[c];
    total[c] += q0 + q1 + q2 + q3;
    four[c] = (static_cast<std::uint32_t>(q0) & 0xFFU) | (static_cast<std::uint32_t>(q1) & 0xFFU) << 8U |
              (static_cast<std::uint32_t>(q2) & 0xFFU) << 16U | (static_cast<std::uint32_t>(q3) & 0xFFU) << 24U;
  }
  std::memcpy(to, four.data(), sizeof four);
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
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) q[i] = rounded(x[i], by);
}

void int8_pack(const Int8Source& from, const float* scales, std::int64_t begin, std::int64_t end, std::int8_t* panels,
               std::int32_t* sums) {
  constexpr std::int64_t kFour = kInt8Columns * 4;  // 4 of k in all columns of a panel
  const std::int64_t depth = int8_depth(from.k);
  for (std::int64_t first = begin; first < end; first += kInt8Columns) {
    std::int8_t* panel = panels + first * depth;
    const std::int64_t width = std::min(kInt8Columns, end - first);
    std::array<float, kInt8Columns> by{};
    std::array<std::int32_t, kInt8Columns> total{};
    for (std::int64_t c = 0; c < width; ++c) by[static_cast<std::size_t>(c)] = inverse(scales[first + c]);
    for (std::int64_t p = 0; p < depth; p += 4) {
      std::array<std::array<float, kInt8Columns>, 4> x{};  // what is beyond k or the columns is 0
      const float* at = from.b + p * from.row + first * from.column;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(4, from.k - p); ++i) {
        float* row = x[static_cast<std::size_t>(i)].data();
        if (from.column == 1) {
          std::copy_n(at + i * from.row, width, row);
        } else {
          for (std::int64_t c = 0; c < width; ++c) row[c] = at[i * from.row + c * from.column];
        }
      }
      std::int8_t* to = panel + p / 4 * kFour;
#pragma omp simd
      for (std::size_t c = 0; c < kInt8Columns; ++c) {
        const std::int32_t q0 = whole(x[0][c], by[c]);
        const std::int32_t q1 = whole(x[1][c], by[c]);
        const std::int32_t q2 = whole(x[2][c], by[c]);
        const std::int32_t q3 = whole(x[3][c], by[c]);
        total[c] += q0 + q1 + q2 + q3;
        to[4 * c] = static_cast<std::int8_t>(q0);
        to[4 * c + 1] = static_cast<std::int8_t>(q1);
        to[4 * c + 2] = static_cast<std::int8_t>(q2);
        to[4 * c + 3] = static_cast<std::int8_t>(q3);
      }
    }
    std::copy(total.begin(), total.end(), sums + first);
  }
}

void int8_widen(std::int64_t count, const std::int8_t* q, float scale, float* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(q[i]) * scale;
}

void int8_widen(std::int64_t count, const std::int8_t* q, const float* scales, float* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(q[i]) * scales[i];
}

void int8_pack(const Int8Rounded& from, std::int64_t begin, std::int64_t end, std::int8_t* panels, std::int32_t* sums) {
  const std::int64_t depth = int8_depth(from.k);
  for (std::int64_t first = begin; first < end; first += kInt8Columns) {
    std::int8_t* to = panels + first * depth;
    const std::int64_t width = std::min(kInt8Columns, end - first);
    std::array<std::int32_t, kInt8Columns> total{};
    for (std::int64_t p = 0; p < depth; p += 4, to += 4 * kInt8Columns) {
      const std::int8_t* at = from.q + p * from.row + first * from.column;
      if (width == kInt8Columns && from.k - p >= 4 && from.column == 1) {
        interleave(at, from.row, to, total.data());
        continue;
      }
      std::array<std::int8_t, 4 * kInt8Columns> four{};  // [column][4 of k]; beyond k and the columns it is 0
      const std::int64_t deep = std::min<std::int64_t>(4, from.k - p);
      for (std::int64_t c = 0; c < width; ++c) {
        for (std::int64_t i = 0; i < deep; ++i) {
          four[static_cast<std::size_t>(4 * c + i)] = at[i * from.row + c * from.column];
        }
      }
      for (std::size_t c = 0; c < kInt8Columns; ++c) {
        total[c] += four[4 * c] + four[4 * c + 1] + four[4 * c + 2] + four[4 * c + 3];
      }
      std::memcpy(to, four.data(), four.size());
    }
    std::copy(total.begin(), total.end(), sums + first);
  }
}

}  // namespace fovea::kernels
