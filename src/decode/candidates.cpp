#include "decode/candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

void punish_repeats(std::vector<std::int32_t>& history, float penalty, const Columns& columns, float* row) {
  std::sort(history.begin(), history.end());
  history.erase(std::unique(history.begin(), history.end()), history.end());
  for (const std::int32_t token : history) {
    if (const std::int64_t column = columns.of(token); column >= 0) row[column] *= penalty;
  }
}

void ban_repeats(std::span<const std::int32_t> history, int n, const Columns& columns, float* row) {
  const auto before = static_cast<std::size_t>(n) - 1;  // tokens of an n-gram before its last
  if (history.size() < before) return;
  const std::span<const std::int32_t> tail = history.last(before);
  for (std::size_t at = 0; at + before < history.size(); ++at) {
    if (!std::ranges::equal(tail, history.subspan(at, before))) continue;
    const std::int64_t column = columns.of(history[at + before]);
    if (column >= 0) row[column] = -std::numeric_limits<float>::infinity();
  }
}

void best_of_row(const float* x, std::int64_t n, int count, float offset, std::int32_t row,
                 std::vector<Candidate>& candidates) {
  constexpr std::int64_t kBlock = 256;
  const auto first = static_cast<std::ptrdiff_t>(candidates.size());
  const kernels::RowKernels& kernels = *kernels::active().rows;
  std::array<std::int32_t, kBlock> above;
  float bar = -std::numeric_limits<float>::infinity();  // what a token must exceed once `count` are there
  int held = 0;
  for (std::int64_t block = 0; block < n; block += kBlock) {
    const std::int64_t found = kernels.above(x + block, std::min(kBlock, n - block), bar, above.data());
    for (std::int64_t i = 0; i < found; ++i) {
      const std::int64_t j = block + above[static_cast<std::size_t>(i)];
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
