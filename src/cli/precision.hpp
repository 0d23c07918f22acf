// --precision of the commands that have it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "fovea/error.hpp"
#include "fovea/precision.hpp"

namespace fovea::cli {

[[nodiscard]] inline Precision precision_value(const std::string& name) {
  if (name == "fp32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  throw UsageError(fmt::format("--precision: \"{}\" is not one of fp32, bf16", name));
}

}  // namespace fovea::cli
