// A model's configuration as the "model" of config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fovea/model/config.hpp"

namespace fovea {

[[nodiscard]] nlohmann::json to_json(const ModelConfig& config);
/// Throws FileError naming `file` and the field that is missing, unknown or out of range.
[[nodiscard]] ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& file);

}  // namespace fovea
