#include "text/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {

Batches::Batches(const Pairs& corpus, const BatchOptions& options) : corpus_(corpus), options_(options) {
  if (corpus.size() == 0) throw UsageError("no sentence pairs to make batches of");
  if (corpus.size() > std::numeric_limits<std::int32_t>::max()) throw UsageError("more than 2^31 - 1 sentence pairs");
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    const auto pair = static_cast<std::int32_t>(i);
    const std::int64_t longest = std::max(source_length(pair), target_length(pair));
    if (longest > options.batch_tokens) {
      throw UsageError("batch_tokens", fmt::format("{} given, line {} has {} tokens; raise it or lower max-length",
                                                   options.batch_tokens, corpus.line(i), longest));
    }
  }
  by_length_.resize(static_cast<std::size_t>(corpus.size()));
  std::iota(by_length_.begin(), by_length_.end(), 0);
  // By target length; the sources of each target length by turns rise and fall, so that neighbours are alike on both
  // sides wherever a batch is cut.
  const auto key = [this](std::int32_t pair) {
    const std::int64_t target = target_length(pair);
    const std::int64_t source = source_length(pair);
    return std::tuple(target, target % 2 == 0 ? source : -source, pair);
  };
  std::sort(by_length_.begin(), by_length_.end(), [&key](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  const auto lengths = [this](std::int32_t pair) { return std::pair(source_length(pair), target_length(pair)); };
  for (std::uint32_t begin = 0; begin < by_length_.size();) {
    std::uint32_t end = begin + 1;
    while (end < by_length_.size() && lengths(by_length_[end]) == lengths(by_length_[begin])) ++end;
    groups_.push_back({begin, end});
    begin = end;
  }
  start_epoch(0);
}

std::int64_t Batches::source_length(std::int32_t pair) const {
  return static_cast<std::int64_t>(corpus_.source(pair).size()) + 1;
}

std::int64_t Batches::target_length(std::int32_t pair) const {
  return static_cast<std::int64_t>(corpus_.target(pair).size()) + 1;
}

void Batches::start_epoch(std::int64_t epoch) {
  order_ = by_length_;
  if (!options_.shuffle) {
    cut(options_.batch_tokens);
    return;
  }
  Rng rng(options_.seed ^ mix64(static_cast<std::uint64_t>(epoch)));
  for (const Cut& group : groups_) rng.shuffle(std::span(order_).subspan(group.begin, group.end - group.begin));
  // A first batch of another size each time moves all the others: pairs of rare lengths get new neighbours.
  cut(static_cast<std::int64_t>((0.25 + 0.75 * rng.uniform()) * static_cast<double>(options_.batch_tokens)));
  rng.shuffle(std::span(cuts_));
}

void Batches::cut(std::int64_t first_tokens) {
  cuts_.clear();
  const auto count = static_cast<std::uint32_t>(order_.size());
  std::int64_t limit = first_tokens;
  for (std::uint32_t begin = 0; begin < count;) {
    std::int64_t longest = 0;
    std::uint32_t end = begin;
    for (; end < count; ++end) {
      const std::int64_t wider = std::max({longest, source_length(order_[end]), target_length(order_[end])});
      const std::int64_t rows = end - begin + 1;
      if (rows > 1 && (rows * wider > limit || (options_.max_rows > 0 && rows > options_.max_rows))) break;
      longest = wider;
    }
    cuts_.push_back({begin, end});
    begin = end;
    limit = options_.batch_tokens;
  }
}

}  // namespace fovea::text
