// A training as options name it: those of `fovea train`, of its TOML files and of Python's train().
#pragma once

#include <vector>

#include "base/option_values.hpp"
#include "fovea/training_job.hpp"

namespace fovea {

/// What options say of a training: the job, and how the process works.
struct RequestedTraining {
  TrainingJob job{};
  int threads = 0;             // 0: all cores
  double rank_timeout = 1800;  // seconds
};

/// The training that the options ask for; options after a preset change it. Throws UsageError naming an option that has
/// a wrong value, or no effect on this task and model.
[[nodiscard]] RequestedTraining requested_training(OptionValues options);

/// Every option of a training, of whatever task and model, in the order of the help.
[[nodiscard]] const std::vector<OptionInfo>& training_options();

}  // namespace fovea
