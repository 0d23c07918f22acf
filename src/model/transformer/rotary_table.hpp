// The angles of rotary positions (Su et al. 2021), computed once for as many positions as were needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fovea/attention/positions.hpp"
#include "fovea/tensor.hpp"

namespace fovea {

/// What rotary() does to one row, in place.
class RotaryTable {
 public:
  /// For positions below `count` and heads of width `dim`; before turn(), and not while other threads turn.
  void prepare(std::int64_t count, std::int64_t dim) {
    if (table_ && table_.dim(0) >= count) return;
    std::int64_t room = 64;
    while (room < count) room *= 2;
    const std::int64_t half = dim / 2;
    table_ = Tensor::empty({room, half, 2});
    for (std::int64_t p = 0; p < half; ++p) {
      const double speed =
          std::pow(static_cast<double>(Rotary{}.base), -2.0 * static_cast<double>(p) / static_cast<double>(dim));
      for (std::int64_t t = 0; t < room; ++t) {
        float* to = table_.data() + (t * half + p) * 2;
        to[0] = static_cast<float>(std::cos(static_cast<double>(t) * speed));
        to[1] = static_cast<float>(std::sin(static_cast<double>(t) * speed));
      }
    }
  }

  /// `row` [heads * dim] at a position.
  void turn(float* row, std::int64_t heads, std::int64_t dim, std::int64_t position) const {
    const std::int64_t half = dim / 2;
    const float* angle = table_.data() + position * 2 * half;
    for (std::int64_t h = 0; h < heads; ++h, row += dim) {
      for (std::int64_t p = 0; p < half; ++p) {
        const float a = row[p];
        const float b = row[p + half];
        row[p] = a * angle[2 * p] - b * angle[2 * p + 1];
        row[p + half] = a * angle[2 * p + 1] + b * angle[2 * p];
      }
    }
  }

 private:
  Tensor table_;  // [positions, dim / 2, 2]: cos and sin
};

}  // namespace fovea
