// A training job that can be carried out.
#pragma once

#include "fovea/training_job.hpp"

namespace fovea {

/// The job with what was left open filled in. Throws UsageError naming the field for what is known to be wrong before
/// any file is read.
[[nodiscard]] TrainingJob completed_job(const TrainingJob& given);

}  // namespace fovea
