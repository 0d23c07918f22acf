// The batches of each epoch of a training on pairs of lines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/train/learner.hpp"
#include "fovea/training_job.hpp"
#include "text/batches.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// With sampled subwords every epoch has its own corpus and so its own batches. What it is given must outlive it.
class EpochPlan final : public BatchPlan {
 public:
  EpochPlan(const TrainingJob& job, const text::ParallelText& text, const Tokenizers& tokenizers,
            const text::Corpus& corpus, const text::CopyTable* copying = nullptr);
  [[nodiscard]] std::int64_t batches(std::int64_t epoch) override;
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) override;
  /// The pairs that a batch numbers.
  [[nodiscard]] const text::Corpus& corpus() const { return job_.subword_sampling > 0 ? sampled_ : plain_; }

 private:
  void start(std::int64_t epoch);

  const TrainingJob& job_;
  const text::ParallelText& text_;
  const Tokenizers& tokenizers_;
  const text::Corpus& plain_;
  const text::CopyTable* copying_;
  text::Corpus sampled_;
  std::optional<text::Batches> batches_;
  std::int64_t epoch_ = 0;
};

}  // namespace fovea
