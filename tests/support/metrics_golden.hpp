// Golden figures of the metrics (tests/golden/metrics.py).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "support/scratch.hpp"

namespace fovea::test {

/// A case of tests/golden/metrics.json: lines and figures by name.
inline nlohmann::json metrics_golden(const std::string& name) {
  return nlohmann::json::parse(read_text(std::string(FOVEA_SOURCE_DIR) + "/tests/golden/metrics.json")).at(name);
}

}  // namespace fovea::test
