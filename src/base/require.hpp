// Checks of options.
#pragma once

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea {

/// Throws UsageError "field: 3 given, POSSIBLE" unless `ok`.
inline void require(bool ok, const char* field, double given, const char* possible) {
  if (!ok) throw UsageError(fmt::format("{}: {} given, {}", field, given, possible));
}

}  // namespace fovea
