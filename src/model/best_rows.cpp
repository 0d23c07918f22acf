#include "model/best_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"

namespace fovea {
namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

// Among the best `most`, best first; of equal ones the first that came stays first. Returns how many there are.
std::int32_t insert(BestTokens::Token token, BestTokens::Token* held, std::int32_t count, std::int32_t most) {
  if (count == most) {
    if (!(token.score > held[count - 1].score)) return count;
    --count;
  }
  std::int32_t at = count;
  for (; at > 0 && token.score > held[at - 1].score; --at) held[at] = held[at - 1];
  held[at] = token;
  return count + 1;
}

}  // namespace

kernels::Peak joined(const kernels::Peak* peaks, std::int64_t count) {
  kernels::Peak all{kLeast, 0};
  for (std::int64_t b = 0; b < count; ++b) all.top = std::max(all.top, peaks[b].top);
  for (std::int64_t b = 0; b < count; ++b) {
    all.sum += peaks[b].top == kLeast ? peaks[b].sum : peaks[b].sum * std::exp(peaks[b].top - all.top);
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
  if (request.probabilities) peaks_.resize(count * static_cast<std::size_t>(blocks_));
  ends_.resize(count);
  held_.resize(parts * count * most);
  held_count_.assign(parts * count, 0);
  // As many columns at a time as stay in the second-level cache beside the weights; of few rows a whole part.
  constexpr std::int64_t kTogether = 32 * 1024;
  const std::int64_t most_blocks = (blocks_ + static_cast<std::int64_t>(parts) - 1) / static_cast<std::int64_t>(parts);
  const std::int64_t width = std::clamp<std::int64_t>(kTogether / rows / kPeakColumns, 1, most_blocks) * kPeakColumns;
  kernels::visit_gemm_packed(
      rows, states, weight.in(), weight.matrix(), bias, width,
      {this, [](void* self, int part, std::int64_t first, std::int64_t n, const float* values, std::int64_t stride) {
         static_cast<BestRows*>(self)->visit(part, first, n, values, stride);
       }});
  best.tokens.resize(count * most);
  best.counts.assign(count, 0);
  best.ends.assign(ends_.begin(), ends_.end());
  best.count = request.count;
  best.vocabulary = weight.out();
  for (std::size_t r = 0; r < count; ++r) {
    BestTokens::Token* to = best.tokens.data() + r * most;
    for (std::size_t p = 0; p < parts; ++p) {  // in the order of their columns
      const BestTokens::Token* from = held_.data() + (p * count + r) * most;
      for (std::int32_t i = 0; i < held_count_[p * count + r]; ++i) {
        best.counts[r] = insert(from[i], to, best.counts[r], request.count);
      }
    }
    if (!request.probabilities) continue;
    const kernels::Peak peak = joined(peaks_.data() + r * static_cast<std::size_t>(blocks_), blocks_);
    const float log_sum = std::log(peak.sum);
    for (std::int32_t i = 0; i < best.counts[r]; ++i) to[i].score = to[i].score - peak.top - log_sum;
    best.ends[r] = best.ends[r] - peak.top - log_sum;
  }
}

void BestRows::visit(int part, std::int64_t first, std::int64_t n, const float* values, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows_; ++r) {
    const std::int64_t end = request_.end - first;
    if (end >= 0 && end < n) ends_[static_cast<std::size_t>(r)] = values[r * stride + end];
    for (std::int64_t j = 0; j < n; j += kPeakColumns) {
      visit_block(part, r, first + j, std::min(kPeakColumns, n - j), values + r * stride + j);
    }
  }
}

void BestRows::visit_block(int part, std::int64_t row, std::int64_t first, std::int64_t n, const float* x) {
  const kernels::RowKernels& kernels = *kernels::active().rows;
  const auto place = static_cast<std::size_t>(part * rows_ + row);
  BestTokens::Token* held = held_.data() + place * static_cast<std::size_t>(request_.count);
  std::int32_t& count = held_count_[place];
  float bar = count == request_.count ? held[count - 1].score : kLeast;
  if (request_.probabilities) {
    kernels::Peak& peak = peaks_[static_cast<std::size_t>(row * blocks_ + first / kPeakColumns)];
    peak = kernels.peak(x, n, true);
    if (!(peak.top > bar)) return;  // most blocks hold nothing that counts
  }
  std::array<std::int32_t, kPeakColumns> at;
  // As long as the list is not full, everything is above the bar: a few columns at a time, so that it rises soon.
  const std::int64_t together = count == request_.count ? n : std::min<std::int64_t>(n, 32);
  for (std::int64_t j = 0; j < n; j += together) {
    bar = count == request_.count ? held[count - 1].score : kLeast;
    const std::int64_t found = kernels.above(x + j, std::min(together, n - j), bar, at.data());
    for (std::int64_t i = 0; i < found; ++i) {
      const std::int64_t column = j + at[static_cast<std::size_t>(i)];
      count = insert({x[column], static_cast<std::int32_t>(first + column)}, held, count, request_.count);
    }
  }
}

}  // namespace fovea
