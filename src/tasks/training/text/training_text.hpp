// The lines a training learns from, and those it is validated on.
#pragma once

#include <string>
#include <vector>

#include "fovea/training_job.hpp"
#include "text/corpus.hpp"

namespace fovea {

struct TrainingText {
  text::ParallelText train, valid;
};

/// Throws UsageError naming the field when the job names no text, or the same twice.
void check_text_fields(const TrainingJob& job);

/// Reads the files that the job names. Without lines to validate on, some are held out of the training text, which is
/// said in `notes`. Throws FileError naming the file and the line.
[[nodiscard]] TrainingText read_training_text(const TrainingJob& job, std::vector<std::string>& notes);

/// Those to validate on alone, which the job must name.
[[nodiscard]] text::ParallelText read_validation_text(const TrainingJob& job);

}  // namespace fovea
