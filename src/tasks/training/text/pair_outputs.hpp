// What a model of text makes of validation lines.
#pragma once

#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "tasks/training/progress/report.hpp"
#include "text/corpus.hpp"
#include "train/workers.hpp"

namespace fovea {

/// What greedy search writes for a few lines; with validate_by bleu, rouge or accuracy for all of them, which are then
/// scored. Adds figures to `v`.
[[nodiscard]] std::vector<ValidationSample> written_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                                            const text::ParallelText& text, const Parameters& weights,
                                                            Validation& v);

/// The labels of a few of `lines` validation lines, and the accuracy on all of them.
[[nodiscard]] std::vector<ValidationSample> labelled_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                                             const text::ParallelText& text, const Parameters& weights,
                                                             const BatchTotals& totals, std::int64_t lines,
                                                             Validation& v);

/// What the model in the job's folder makes of a few lines, with attention.
[[nodiscard]] std::vector<ReportedLine> reported_lines(const TrainingJob& job, const text::ParallelText& text);

}  // namespace fovea
