// What a model of pictures writes for validation pictures.
#pragma once

#include <vector>

#include "fovea/captioner.hpp"
#include "fovea/training_job.hpp"
#include "tasks/captioning/caption_learner.hpp"
#include "tasks/training/progress/report.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// What greedy search writes for a few pictures; with validate_by bleu, rouge or accuracy for each of them, scored
/// against all of its captions. Adds figures to `v`.
[[nodiscard]] std::vector<ValidationSample> caption_samples(const TrainingJob& job, const Tokenizers& tokenizers,
                                                            const text::ParallelText& text, const CaptionData& data,
                                                            const Parameters& weights, Validation& v);

/// What the model in the job's folder writes for a few pictures.
[[nodiscard]] std::vector<ReportedLine> reported_captions(const TrainingJob& job, const text::ParallelText& text,
                                                          const PictureStore& pictures);

}  // namespace fovea
