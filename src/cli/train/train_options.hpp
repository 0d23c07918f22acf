// A training by the options of `fovea train`, for callers in other languages.
#pragma once

#include <string>
#include <vector>

#include "fovea/training_job.hpp"

namespace fovea::cli {

/// What `fovea train OPTIONS` does, seen by `observer`; nothing is printed and signals are left alone. Throws
/// UsageError naming the option that cannot be.
Trainer::End train_with_options(const std::vector<std::string>& options, TrainingObserver& observer);

}  // namespace fovea::cli
