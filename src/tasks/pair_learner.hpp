// Training an encoder-decoder on pairs of token sequences.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/model/seq2seq.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/train/learner.hpp"
#include "text/pairs.hpp"

namespace fovea {

/// The sizes of pairs.
class PairExamples final : public Examples {
 public:
  /// `pairs` must outlive this.
  explicit PairExamples(const text::Pairs& pairs) : pairs_(pairs) {}
  [[nodiscard]] ExampleSize size(std::int64_t i) const override {
    return {static_cast<std::int64_t>(pairs_.source(i).size()) + 1,
            static_cast<std::int64_t>(pairs_.target(i).size()) + 1};
  }

 private:
  const text::Pairs& pairs_;
};

/// Pairs padded to arrays: the source ends with </s>, unless the model reads it without; the target is shifted, <s> a b
/// → a b </s>.
struct PairBatch {
  PaddedTokens source, target, wanted;

  /// Where words are copied, ids from `vocabulary` on are wanted but not fed; 0: none are.
  void fill(const text::Pairs& pairs, std::span<const std::int64_t> which, Marks source_marks = Marks::end,
            std::int32_t vocabulary = 0);
};

/// A Seq2Seq at work on pairs.
class PairLearner final : public Learner {
 public:
  PairLearner(const ModelConfig& config, const text::Pairs& pairs, Parameters& parameters)
      : model_(config, parameters),
        copying_from_(config.generator().copy ? config.generator().vocabulary : 0),
        pairs_(pairs) {}
  [[nodiscard]] BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) override;

 private:
  Seq2Seq model_;
  std::int32_t copying_from_;  // the size of a vocabulary that sources add to; 0: they do not
  const text::Pairs& pairs_;
  PairBatch batch_;
};

/// Both must outlive what it makes.
[[nodiscard]] LearnerFactory pair_learners(const ModelConfig& config, const text::Pairs& pairs);

}  // namespace fovea
