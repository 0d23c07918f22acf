// Settings that are chosen from the corpus size where none are given. How they were chosen: docs/how-to/train.md.
#pragma once

#include <string>

#include "fovea/training_job.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// Layers and widths of a transformer, the same on both sides.
struct ModelSize {
  int layers, dim, ffn, heads;
};
[[nodiscard]] ModelSize size_of(const ModelConfig& config);
void set_size(ModelConfig& config, const ModelSize& size);

/// Throws UsageError when the job wants something chosen that its model does not have.
void check_automatic(const TrainingJob& job);

// Each sets what job.automatic names and leaves the rest alone. The text alone decides, so that a resumed training
// chooses the same again.
void choose_vocabulary(TrainingJob& job, const text::ParallelText& text);
void choose_training(TrainingJob& job, const text::PairsSummary& text);
void choose_size(TrainingJob& job, const text::PairsSummary& text);

/// One line for the user that names what was chosen; empty when nothing was.
[[nodiscard]] std::string chosen_settings(const TrainingJob& job, bool resumes);

}  // namespace fovea
