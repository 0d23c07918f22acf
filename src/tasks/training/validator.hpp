// Validation: how good weights are on the validation lines.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "tasks/pair_learner.hpp"
#include "tasks/training/report.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// The loss on the validation pairs; with validate_by bleu or accuracy, what greedy search makes of their lines too.
/// What it is given must outlive it.
class Validator {
 public:
  Validator(const TrainingJob& job, const Tokenizers& tokenizers, const text::ParallelText& text,
            const text::Corpus& corpus, const Parameters& parameters, TrainingObserver& observer);

  /// One tensor for each entry of the parameters.
  [[nodiscard]] Validation operator()(std::span<const Tensor> weights) const;
  /// What the model in the folder makes of a few lines, with attention.
  [[nodiscard]] std::vector<ReportedLine> report_lines(const std::filesystem::path& folder) const;

 private:
  [[nodiscard]] Parameters with(std::span<const Tensor> weights) const;

  const TrainingJob& job_;
  const Tokenizers& tokenizers_;
  const text::ParallelText& text_;
  const text::Corpus& corpus_;
  const Parameters& parameters_;
  TrainingObserver& observer_;
};

}  // namespace fovea
