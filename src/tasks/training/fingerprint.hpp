// What a training was given, so that a checkpoint is only continued with the same.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fovea/training_job.hpp"
#include "text/pairs.hpp"

namespace fovea {

/// A JSON object: the model, the text by a hash of its tokens, and the options that decide every byte of a training.
[[nodiscard]] std::string training_fingerprint(const TrainingJob& job, const text::Pairs& corpus,
                                               const text::Pairs& valid);

}  // namespace fovea
