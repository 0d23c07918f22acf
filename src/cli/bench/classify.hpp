// Training steps of a classifier, for `fovea bench train --task classify`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace fovea::cli {

/// What was measured in about so many seconds.
[[nodiscard]] nlohmann::json measure_classifier(std::int32_t vocabulary, std::int64_t batch_tokens, double for_seconds);

}  // namespace fovea::cli
