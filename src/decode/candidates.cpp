#include "decode/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fovea {

namespace {

constexpr std::int64_t kBlock = 128;

float largest(const float* x, std::int64_t n) {
  float top = x[0];
#pragma omp simd reduction(max : top)
  for (std::int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;
  return top;
}

}  // namespace

void best_of_row(const float* x, std::int64_t n, int count, float offset, std::int32_t row,
                 std::vector<Candidate>& candidates) {
  const auto first = static_cast<std::ptrdiff_t>(candidates.size());
  float bar = -std::numeric_limits<float>::infinity();  // what a token must exceed once `count` are there
  int held = 0;
  std::int64_t checked = 0;  // up to here a value may exceed the bar; most blocks hold none
  for (std::int64_t j = 0; j < n; ++j) {
    while (j >= checked && checked < n) {
      const std::int64_t width = std::min(kBlock, n - checked);
      const bool some = largest(x + checked, width) > bar;
      checked += width;
      if (some) break;
      j = checked;
    }
    if (j >= n) break;
    if (!(x[j] > bar)) continue;
    // Insert in order; the list is short.
    Candidate candidate{x[j], row, static_cast<std::int32_t>(j)};
    if (held == count) {
      candidates.pop_back();
    } else {
      ++held;
    }
    const auto at = std::upper_bound(candidates.begin() + first, candidates.end(), candidate,
                                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    candidates.insert(at, candidate);
    if (held == count) bar = candidates.back().score;
  }
  for (auto c = candidates.begin() + first; c != candidates.end(); ++c) c->score += offset;
}

std::int32_t sample_token(const float* x, std::int64_t n, const Sampling& how, double u, SampleScratch& scratch) {
  auto& items = scratch.items;
  items.clear();
  for (std::int64_t j = 0; j < n; ++j) {
    if (x[j] > -std::numeric_limits<float>::infinity()) items.emplace_back(x[j], static_cast<std::int32_t>(j));
  }
  const auto better = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  if (how.top_k > 0 && static_cast<std::size_t>(how.top_k) < items.size()) {
    std::nth_element(items.begin(), items.begin() + how.top_k, items.end(), better);
    items.resize(static_cast<std::size_t>(how.top_k));
  }
  if (items.empty()) return -1;
  std::sort(items.begin(), items.end(), better);
  double total = 0;
  const float top = items.front().first;
  for (auto& item : items) {
    item.first = std::exp((item.first - top) / how.temperature);
    total += item.first;
  }
  if (how.top_p < 1) {
    double kept = 0;
    std::size_t count = 0;
    while (count < items.size() && kept < how.top_p * total) kept += items[count++].first;
    items.resize(count);
    total = kept;
  }
  double target = u * total;
  for (const auto& [weight, token] : items) {
    target -= weight;
    if (target < 0) return token;
  }
  return items.back().second;
}

}  // namespace fovea
