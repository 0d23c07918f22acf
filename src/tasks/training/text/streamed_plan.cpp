#include "tasks/training/text/streamed_plan.hpp"

#include <algorithm>
#include <numeric>

#include "base/rng.hpp"

namespace fovea {

StreamedPlan::StreamedPlan(const TrainingJob& job, const StreamedText& text) : job_(job), text_(text) {
  start(0);
}

std::int64_t StreamedPlan::batches(std::int64_t epoch) {
  if (epoch != epoch_) start(epoch);
  return ends_.back();
}

void StreamedPlan::batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) {
  (void)batches(epoch);
  const auto window = std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
  open(window);
  const auto numbers = batches_->pairs(index - (window == 0 ? 0 : ends_[static_cast<std::size_t>(window) - 1]));
  pairs.assign(numbers.begin(), numbers.end());
}

void StreamedPlan::start(std::int64_t epoch) {
  const auto& shards = text_.shards();
  std::vector<std::size_t> order(shards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t all = 0;
  for (const auto& shard : shards) all += shard.bytes;
  if (all > text_.window_bytes()) {
    Rng rng(mix64(job_.options.seed) ^ mix64(static_cast<std::uint64_t>(epoch) + 1));
    rng.shuffle(std::span(order));
  }
  windows_.clear();
  std::int64_t bytes = 0;
  for (const std::size_t shard : order) {
    if (shards[shard].report.kept == 0) continue;
    bytes += shards[shard].bytes;
    if (windows_.empty() || bytes > text_.window_bytes()) {
      windows_.emplace_back();
      bytes = shards[shard].bytes;
    }
    windows_.back().push_back(shard);
  }
  epoch_ = epoch;
  ends_.clear();
  std::int64_t count = 0;
  open_ = -1;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    open(static_cast<std::int64_t>(w));
    ends_.push_back(count += batches_->count());
  }
}

void StreamedPlan::open(std::int64_t window) {
  if (window == open_) return;
  std::vector<std::filesystem::path> files;
  for (const std::size_t shard : windows_[static_cast<std::size_t>(window)]) {
    files.push_back(text_.shards()[shard].file);
  }
  batches_.reset();
  window_.open(files);
  const std::uint64_t seed = job_.options.seed ^ (window == 0 ? 0 : mix64(static_cast<std::uint64_t>(window)));
  batches_.emplace(window_, text::BatchOptions{.batch_tokens = job_.options.batch_tokens, .seed = seed});
  batches_->start_epoch(epoch_);
  open_ = window;
}

}  // namespace fovea
