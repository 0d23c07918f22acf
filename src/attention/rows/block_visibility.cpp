// Which keys are visible to a block of queries, and what is added to their scores.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention/rows/rows.hpp"

namespace fovea::attention {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Range {
  Int low, high;
};

// The keys visible to query i by length, causality, window and local window.
Range row_range(const Plan& plan, Int b, Int h, Int i) {
  Int low = 0;
  Int high = plan.length(b);
  const Int position = i + plan.visibility.offset;
  if (plan.visibility.causal) high = std::min(high, position + 1);
  if (plan.visibility.window >= 0) {
    low = std::max(low, position - plan.visibility.window);
    high = std::min(high, position + plan.visibility.window + 1);
  }
  if (plan.local) {
    const double center = plan.center ? static_cast<double>(*plan.center.at(b, h, i)) : static_cast<double>(i);
    const auto width = static_cast<double>(plan.half_width);
    const auto keys = static_cast<double>(plan.keys);
    if (!(center + width >= 0 && center - width < keys)) return {0, 0};  // beyond the keys, or no number
    low = std::max(low, static_cast<Int>(std::ceil(std::max(0.0, center - width))));
    high = std::min(high, static_cast<Int>(std::floor(std::min(keys, center + width))) + 1);
  }
  return {low, std::max(low, high)};
}

}  // namespace

void reach(const Plan& plan, Int b, Int h, Int first, Int* low, Int* high) {
  if (plan.local && plan.center) {  // centres jump about: the union over the rows that are there
    *low = plan.keys;
    *high = 0;
    for (Int i = first; i < std::min(plan.queries, first + kRows); ++i) {
      const Range range = row_range(plan, b, h, i);
      if (range.high <= range.low) continue;
      *low = std::min(*low, range.low);
      *high = std::max(*high, range.high);
    }
  } else {  // ranges move to the right with i
    const Int last = first + kRows - 1;
    *low = 0;
    *high = plan.length(b);
    if (plan.visibility.causal) *high = std::min(*high, last + plan.visibility.offset + 1);
    if (plan.visibility.window >= 0) {
      *low = first + plan.visibility.offset - plan.visibility.window;
      *high = std::min(*high, last + plan.visibility.offset + plan.visibility.window + 1);
    }
    if (plan.local) {
      const Int width = std::min(plan.half_width, plan.queries + plan.keys);
      *low = std::max(*low, first - width);
      *high = std::min(*high, last + width + 1);
    }
    *low = std::max<Int>(*low, 0);
  }
  if (*high < *low) *high = *low = 0;
}

void see_block(const Plan& plan, const Block& block) {
  for (Int r = 0; r < block.rows; ++r) {
    const Int i = block.first + r;
    const Range range = row_range(plan, block.b, block.h, i);
    std::uint8_t* visible = block.visible + r * block.pitch;
    std::memset(visible, 0, static_cast<std::size_t>(block.pitch));
    if (block.list != nullptr) {
      for (Int c = 0; c < block.columns; ++c) visible[c] = block.list[c] >= range.low && block.list[c] < range.high;
    } else {
      const Int low = std::max<Int>(range.low - block.low, 0);
      const Int high = std::min(range.high - block.low, block.columns);
      if (high > low) std::memset(visible + low, 1, static_cast<std::size_t>(high - low));
    }
    for (Int c = 0; plan.blocks && c < block.columns; ++c) {
      if (visible[c] == 0) continue;
      visible[c] = plan.blocks.visible(plan.blocks.batch() == 1 ? 0 : block.b, i, block.key(c)) ? 1 : 0;
    }
    if (plan.visibility.mask) {
      const std::uint8_t* mask = plan.visibility.mask.data + block.b * plan.visibility.mask.b +
                                 block.h * plan.visibility.mask.h + i * plan.visibility.mask.i;
      for (Int c = 0; c < block.columns; ++c)
        visible[c] &= static_cast<std::uint8_t>(mask[block.key(c) * plan.visibility.mask.j] != 0);
    }
  }
}

void bias_block(const Plan& plan, const Block& block) {
  const float cooler = 1.0F / plan.temperature;
  for (Int r = 0; r < block.rows; ++r) {
    const Int i = block.first + r;
    float* s = block.scores + r * block.pitch;
    std::uint8_t* visible = block.visible + r * block.pitch;
    for (const BiasView* bias : {&plan.visibility.bias, &plan.visibility.distance_bias}) {
      if (!*bias) continue;
      const float* row = bias->data + block.b * bias->b + block.h * bias->h + bias->first + i * bias->i;
      for (Int c = 0; c < block.columns; ++c) {
        const float added = row[block.key(c) * bias->j];
        if (added == kHidden) visible[c] = 0;  // even where the score is NaN
        s[c] += added;
      }
    }
    if (plan.row_term) {
      const float term = *plan.row_term.at(block.b, block.h, i);
      for (Int c = 0; c < block.columns; ++c) s[c] += term;
    }
    if (plan.visibility.alibi_slopes != nullptr) {
      const float slope = plan.visibility.alibi_slopes[block.h];
      const Int position = i + plan.visibility.offset;
      for (Int c = 0; c < block.columns; ++c) s[c] -= slope * static_cast<float>(std::abs(position - block.key(c)));
    }
    if (plan.temperature != 1.0F) {
      for (Int c = 0; c < block.columns; ++c) s[c] *= cooler;
    }
    for (Int c = 0; c < block.columns; ++c) {
      if (visible[c] == 0) {
        s[c] = kHidden;
      } else if (s[c] == kHidden) {
        visible[c] = 0;
      }
    }
    for (Int c = block.columns; c < block.pitch; ++c) s[c] = kHidden;
  }
}

}  // namespace fovea::attention
