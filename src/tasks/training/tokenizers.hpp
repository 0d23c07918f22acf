// The tokenizers of a training.
#pragma once

#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// Trains them, or loads the one that the job names; adds to `notes` what a user should know.
[[nodiscard]] Tokenizers make_tokenizers(const TrainingJob& job, const text::ParallelText& text,
                                         std::vector<std::string>& notes);

}  // namespace fovea
