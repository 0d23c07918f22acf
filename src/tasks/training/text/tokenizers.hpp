// The tokenizers of a training.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "text/corpus.hpp"

namespace fovea {

/// Trains one on the lines, or loads the one that the job names; adds to `notes` what a user should know of NAME.
[[nodiscard]] std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingJob& job,
                                                              const std::vector<std::string>& lines, const char* name,
                                                              std::vector<std::string>& notes);

/// Of both sides: trains them, or loads the one that the job names; adds to `notes` what a user should know.
[[nodiscard]] Tokenizers make_tokenizers(const TrainingJob& job, const text::ParallelText& text,
                                         std::vector<std::string>& notes);

}  // namespace fovea
