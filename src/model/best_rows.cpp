#include "model/best_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {
namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

// Scores as whole numbers in the same order, so that one comparison without a branch orders by score and then by token.
// 0 is below all of them.
std::uint32_t rank(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 counts as 0
  return bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFU : 0x80000000U);
}
float score_of(std::uint32_t rank) {
  return std::bit_cast<float>(rank ^ ((rank >> 31) != 0 ? 0x80000000U : 0xFFFFFFFFU));
}

// Of equal scores the lower token is the better one.
std::uint64_t key(float score, std::int64_t token) {
  return std::uint64_t{rank(score)} << 32 | (0xFFFFFFFFU - static_cast<std::uint32_t>(token));
}
std::uint32_t rank_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32);
}
BestTokens::Token token_of(std::uint64_t key) {
  return {score_of(rank_of(key)), static_cast<std::int32_t>(0xFFFFFFFFU - static_cast<std::uint32_t>(key))};
}

// Inserts into `most` keys, best first. Short lists are moved without branches, which would be unpredictable.
void insert(std::uint64_t key, std::uint64_t* held, int most) {
  constexpr int kShort = 32;
  if (most > kShort) {
    if (key <= held[most - 1]) return;
    std::uint64_t* at = std::upper_bound(held, held + most, key, std::greater<>());
    std::move_backward(at, held + most - 1, held + most);
    *at = key;
    return;
  }
  for (int i = most - 1; i > 0; --i) held[i] = std::max(held[i], std::min(held[i - 1], key));
  held[0] = std::max(held[0], key);
}

// A score must exceed this to count: the last of a full list, whose token is lower than those that follow, and the
// number just below the floor, since the floor may be the score of a later token.
float bar_of(const std::uint64_t* held, int most, std::uint32_t floor) {
  const std::uint32_t bar = std::max(rank_of(held[most - 1]), floor == 0 ? 0 : floor - 1);
  return bar == 0 ? kLeast : score_of(bar);
}

// At least request.count tokens reach `score`.
void raise(std::atomic_ref<std::uint32_t> floor, float score) {
  if (!(score > kLeast)) return;
  const std::uint32_t to = rank(score);
  std::uint32_t now = floor.load(std::memory_order_relaxed);
  while (now < to && !floor.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

}  // namespace

kernels::Peak joined(const kernels::Peak* peaks, std::int64_t count) {
  kernels::Peak all{kLeast, 0, 0};
  for (std::int64_t b = 0; b < count; ++b) all.top = std::max(all.top, peaks[b].top);
  if (all.top > kLeast && !(std::abs(all.top) <= kernels::kUnshifted)) all.shift = all.top;
  for (std::int64_t b = 0; b < count; ++b) {
    const float apart = peaks[b].shift - all.shift;
    if (peaks[b].sum != 0) all.sum += apart == 0 ? peaks[b].sum : peaks[b].sum * std::exp(apart);  // NaN stays
  }
  return all;
}

kernels::Peak peak_of_row(const float* x, std::int64_t n) {
  constexpr std::int64_t kTogether = 64;
  std::array<kernels::Peak, kTogether> peaks;
  thread_local std::vector<kernels::Peak> many;
  const std::int64_t blocks = (n + kPeakColumns - 1) / kPeakColumns;
  kernels::Peak* at = peaks.data();
  if (blocks > kTogether) {
    many.resize(static_cast<std::size_t>(blocks));
    at = many.data();
  }
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t first = b * kPeakColumns;
    at[b] = kernels::active().rows->peak(x + first, std::min(kPeakColumns, n - first), true);
  }
  return joined(at, blocks);
}

void BestRows::choose(std::int64_t rows, const float* states, const PackedWeight& weight, const float* bias,
                      const BestRequest& request, BestTokens& best) {
  request_ = request;
  rows_ = rows;
  blocks_ = (weight.out() + kPeakColumns - 1) / kPeakColumns;
  const auto parts = static_cast<std::size_t>(kernels::kPartsPerThread * threads());
  const auto count = static_cast<std::size_t>(rows);
  const auto most = static_cast<std::size_t>(request.count);
  peaks_.resize(count * static_cast<std::size_t>(blocks_));
  ends_.resize(count);
  held_.assign(parts * count * most, 0);
  floors_.assign(count, 0);
  // As many columns at a time as fit into the second-level cache with the weights; for few rows a whole part.
  constexpr std::int64_t kTogether = 32 * 1024;
  const std::int64_t most_blocks = (blocks_ + static_cast<std::int64_t>(parts) - 1) / static_cast<std::int64_t>(parts);
  const std::int64_t width = std::clamp<std::int64_t>(kTogether / rows / kPeakColumns, 1, most_blocks) * kPeakColumns;
  kernels::visit_gemm_packed(
      rows, states, weight.in(), matrix_of(weight), bias, width,
      {this, [](void* self, int part, std::int64_t first, std::int64_t n, const float* values, std::int64_t stride) {
         static_cast<BestRows*>(self)->visit(part, first, n, values, stride);
       }});
  best.tokens.resize(count * most);
  best.counts.assign(count, 0);
  best.ends.assign(ends_.begin(), ends_.end());
  best.count = request.count;
  best.vocabulary = weight.out();
  for (std::size_t r = 0; r < count; ++r) {
    std::uint64_t* held = held_.data() + r * most;  // the first part's
    for (std::size_t p = 1; p < parts; ++p) {
      const std::uint64_t* from = held + p * count * most;
      for (std::size_t i = 0; i < most && from[i] > held[most - 1]; ++i) insert(from[i], held, request.count);
    }
    float shift = 0;
    float log_sum = 0;
    if (request.probabilities) {
      const kernels::Peak peak = joined(peaks_.data() + r * static_cast<std::size_t>(blocks_), blocks_);
      shift = peak.shift;
      log_sum = std::log(peak.sum);
      best.ends[r] = best.ends[r] - shift - log_sum;
    }
    BestTokens::Token* to = best.tokens.data() + r * most;
    for (std::size_t i = 0; i < most && held[i] != 0; ++i, ++best.counts[r]) {
      to[i] = token_of(held[i]);
      if (request.probabilities) to[i].score = to[i].score - shift - log_sum;
    }
  }
}

void BestRows::visit(int part, std::int64_t first, std::int64_t n, const float* values, std::int64_t stride) {
  const kernels::RowKernels& kernels = *kernels::active().rows;
  const auto most = static_cast<std::size_t>(request_.count);
  thread_local std::vector<float> tops;
  for (std::int64_t r = 0; r < rows_; ++r) {
    const float* x = values + r * stride;
    const std::int64_t end = request_.end - first;
    if (end >= 0 && end < n) ends_[static_cast<std::size_t>(r)] = x[end];
    kernels::Peak* peaks = peaks_.data() + r * blocks_ + first / kPeakColumns;
    for (std::int64_t j = 0; j < n; j += kPeakColumns) {
      peaks[j / kPeakColumns] = kernels.peak(x + j, std::min(kPeakColumns, n - j), request_.probabilities);
    }
    std::uint64_t* held = held_.data() + static_cast<std::size_t>(part * rows_ + r) * most;
    const std::atomic_ref<std::uint32_t> floor(floors_[static_cast<std::size_t>(r)]);
    const std::int64_t blocks = (n + kPeakColumns - 1) / kPeakColumns;
    if (held[most - 1] == 0 && blocks >= request_.count) {  // as many blocks have a value as large as this
      tops.clear();
      for (std::int64_t b = 0; b < blocks; ++b) tops.push_back(peaks[b].top);
      std::nth_element(tops.begin(), tops.begin() + request_.count - 1, tops.end(), std::greater<>());
      raise(floor, tops[most - 1]);
    }
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t j = b * kPeakColumns;
      if (peaks[b].top > bar_of(held, request_.count, floor.load(std::memory_order_relaxed))) {
        keep_best(held, floor, first + j, std::min(kPeakColumns, n - j), x + j);
      }
    }
  }
}

void BestRows::keep_best(std::uint64_t* held, std::atomic_ref<std::uint32_t> floor, std::int64_t first, std::int64_t n,
                         const float* x) const {
  const kernels::RowKernels& kernels = *kernels::active().rows;
  std::array<std::int32_t, kPeakColumns> at;
  float bar = bar_of(held, request_.count, floor.load(std::memory_order_relaxed));
  // Without a bar every column is above it: a few columns at a time give a bar soon.
  const std::int64_t together = bar > kLeast ? n : std::min<std::int64_t>(n, 32);
  for (std::int64_t j = 0; j < n; j += together) {
    const std::int64_t found = kernels.above(x + j, std::min(together, n - j), bar, at.data());
    for (std::int64_t i = 0; i < found; ++i) {
      const std::int64_t column = j + at[static_cast<std::size_t>(i)];
      insert(key(x[column], first + column), held, request_.count);
    }
    bar = bar_of(held, request_.count, floor.load(std::memory_order_relaxed));
  }
  const std::uint64_t last = held[request_.count - 1];
  if (last != 0) raise(floor, score_of(rank_of(last)));
}

}  // namespace fovea
