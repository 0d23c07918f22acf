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

/// The same for a measurement, which should be of what was asked for.
[[nodiscard]] inline Precision measurable_precision(const std::string& name) {
  const Precision wanted = precision_value(name);
  if (wanted == Precision::bf16 && !has_bf16()) throw UsageError("--precision bf16: there are no tiles for it here");
  return wanted;
}

}  // namespace fovea::cli
