// Checks of options.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "fovea/error.hpp"

namespace fovea {

/// Throws UsageError "field: 3 given, POSSIBLE" unless `ok`.
inline void require(bool ok, const char* field, double given, const char* possible) {
  if (ok) return;
  const auto single = static_cast<float>(given);
  const bool fraction = given == static_cast<double>(single) && given != std::trunc(given);
  // A float as it was written: -0.1, not the -0.10000000149011612 that it is.
  const std::string text = fraction ? fmt::format("{}", single) : fmt::format("{}", given);
  throw UsageError(field, fmt::format("{} given, {}", text, possible));
}

}  // namespace fovea
