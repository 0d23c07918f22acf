// One pair (query i, key j) of attention in double precision: what the plain kernels are loops over.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/attention.hpp"
#include "kernels/weight_dropout.hpp"

namespace fovea::kernels::generic {

constexpr double kLog2e = 1.4426950408889634074;

inline bool listed(const TileMap& map, std::int64_t i, std::int64_t j) {
  if (map.row_start == nullptr) return true;
  for (std::int64_t n = map.row_start[i / kMapQueries]; n < map.row_start[i / kMapQueries + 1]; ++n) {
    if (map.key_tile[n] != j / kKeyTile) continue;
    return map.first_word[n] < 0 || (map.words[map.first_word[n] + j % kKeyTile] >> (i % kMapQueries) & 1) != 0;
  }
  return false;
}

inline bool visible(const Visibility& visibility, std::int64_t i, std::int64_t j) {
  const std::int64_t position = i + visibility.offset;
  if (j >= visibility.length || (visibility.causal && j > position)) return false;
  if (visibility.window >= 0 && std::abs(position - j) > visibility.window) return false;
  if (visibility.mask != nullptr && visibility.mask[i * visibility.mask_stride + j] == 0) return false;
  if (!listed(visibility.map, i, j)) return false;
  return visibility.bias == nullptr || visibility.bias[i * visibility.bias_row + j * visibility.bias_column] !=
                                           -std::numeric_limits<float>::infinity();
}

inline double dot(const float* x, const float* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t d = 0; d < n; ++d) sum += static_cast<double>(x[d]) * y[d];
  return sum;
}

inline double raw_score(const DotHead& head, std::int64_t i, std::int64_t j) {
  return head.scale * dot(head.q + i * head.q_stride, head.k + j * head.k_stride, head.dim);
}

inline double raw_score(const AdditiveHead& head, std::int64_t i, std::int64_t j) {
  const float* a = head.a + i * head.a_stride;
  const float* b = head.b + j * head.b_stride;
  double sum = 0;
  for (std::int64_t d = 0; d < head.dim; ++d) sum += head.w[d] * std::tanh(static_cast<double>(a[d]) + b[d]);
  return sum;
}

/// The score that modifiers are given.
template <class Head>
double capped_score(const Head& head, std::int64_t i, std::int64_t j) {
  const double s = raw_score(head, i, j);
  const double cap = head.change.softcap;
  return cap > 0 ? cap * std::tanh(s / cap) : s;
}

template <class Head>
ScoreTile one_pair(const Head& head, std::int64_t i, std::int64_t j) {
  return {head.change.batch, head.change.head, i, j, 1, 1, 1, 1};
}

/// The gradient of a score becomes that of the score before it was changed.
template <class Head>
double unchanged_gradient(const Head& head, std::int64_t i, std::int64_t j, double ds) {
  const auto before = static_cast<float>(capped_score(head, i, j));
  if (head.change.modify_backward != nullptr) {
    auto gradient = static_cast<float>(ds);
    head.change.modify_backward(head.change.modifiers, one_pair(head, i, j), &before, &gradient);
    ds = gradient;
  }
  const double cap = head.change.softcap;
  return cap > 0 ? ds * (1 - before / cap * (before / cap)) : ds;
}

/// The score in base 2, -inf when the pair is not visible. Rounded to float, so that the difference to the kept peak
/// is exact however large both are.
template <class Head>
float score(const Head& head, std::int64_t i, std::int64_t j) {
  const Visibility& visibility = head.visibility;
  if (!visible(visibility, i, j)) return -std::numeric_limits<float>::infinity();
  double s = capped_score(head, i, j);
  if (head.change.modify != nullptr) {
    auto changed = static_cast<float>(s);
    head.change.modify(head.change.modifiers, one_pair(head, i, j), &changed);
    s = changed;
  }
  if (visibility.bias != nullptr)
    s += std::max(kLowestBias, visibility.bias[i * visibility.bias_row + j * visibility.bias_column]);
  s -= static_cast<double>(visibility.alibi_slope) * static_cast<double>(std::abs(i + visibility.offset - j));
  return static_cast<float>(s * kLog2e);
}

/// exp2(s - peak), 0 for what is not visible.
inline double lifted(float s, float peak) {
  if (s == -std::numeric_limits<float>::infinity()) return 0;
  return std::exp2(static_cast<double>(s) - peak);
}

/// 1 / (1 - rate) or 0.
template <class Head>
double kept(const Head& head, std::int64_t i, std::int64_t j) {
  if (head.dropout.rate == 0) return 1;
  return weight_kept(head.dropout, i * head.keys + j) ? 1 / (1 - static_cast<double>(head.dropout.rate)) : 0;
}

}  // namespace fovea::kernels::generic
