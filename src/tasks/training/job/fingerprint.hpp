// What a training was given, so that a checkpoint is only continued with the same.
#pragma once

#include <string>

#include "fovea/training_job.hpp"
#include "tasks/training/training_task.hpp"

namespace fovea {

/// A JSON object: the model, the options that decide every byte of a training, and what the task adds: its examples by
/// a hash.
[[nodiscard]] std::string training_fingerprint(const TrainingJob& job, const TrainingTask& task);

}  // namespace fovea
