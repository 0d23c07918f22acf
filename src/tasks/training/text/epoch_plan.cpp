#include "tasks/training/text/epoch_plan.hpp"

#include <algorithm>

#include "base/rng.hpp"

namespace fovea {

EpochPlan::EpochPlan(const TrainingJob& job, const text::ParallelText& text, const Tokenizers& tokenizers,
                     const text::Corpus& corpus, const text::CopyTable* copying)
    : job_(job), text_(text), tokenizers_(tokenizers), plain_(corpus), copying_(copying) {
  start(0);
}

std::int64_t EpochPlan::batches(std::int64_t epoch) {
  if (epoch != epoch_) start(epoch);
  return batches_->count();
}

void EpochPlan::batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) {
  (void)batches(epoch);
  const auto numbers = batches_->pairs(index);
  pairs.assign(numbers.begin(), numbers.end());
}

void EpochPlan::start(std::int64_t epoch) {
  const TrainOptions& o = job_.options;
  if (job_.subword_sampling > 0) {
    const std::int64_t longest = std::min<std::int64_t>(job_.max_length, o.batch_tokens - 1);
    sampled_ = plain_.sampled(text_, *tokenizers_.source, *tokenizers_.target, longest, job_.subword_sampling,
                              o.seed ^ mix64(static_cast<std::uint64_t>(epoch) + 1), copying_);
    batches_.reset();
  }
  if (!batches_) batches_.emplace(corpus(), text::BatchOptions{.batch_tokens = o.batch_tokens, .seed = o.seed});
  batches_->start_epoch(epoch_ = epoch);
}

}  // namespace fovea
