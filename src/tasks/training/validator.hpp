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
#include "train/workers.hpp"

namespace fovea {

/// The models that the job trains, on these pairs. Both must outlive them.
[[nodiscard]] LearnerFactory job_learners(const TrainingJob& job, const text::Pairs& pairs);

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
  // What the model makes of lines of the validation text, adding figures to `v`.
  [[nodiscard]] std::vector<ValidationSample> translate(const Parameters& validated, Validation& v) const;
  [[nodiscard]] std::vector<ValidationSample> classify(const Parameters& validated, const BatchTotals& totals,
                                                       Validation& v) const;
  [[nodiscard]] Parameters with(std::span<const Tensor> weights) const;

  const TrainingJob& job_;
  const Tokenizers& tokenizers_;
  const text::ParallelText& text_;
  const text::Corpus& corpus_;
  const Parameters& parameters_;
  TrainingObserver& observer_;
};

}  // namespace fovea
