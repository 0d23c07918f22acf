// Dropout as the kernels take it.
#pragma once

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/random.hpp"

namespace fovea {

/// Throws UsageError unless 0 <= rate < 1.
[[nodiscard]] inline kernels::Dropout make_dropout(const char* op, const Dropout& how) {
  if (!(how.rate >= 0 && how.rate < 1)) {
    throw UsageError(fmt::format("{}: dropout.rate {}: expected 0 up to below 1", op, how.rate));
  }
  return {.rate = how.rate, .seed = how.seed};
}

/// The same for the part of the array that begins at value `first`.
inline kernels::Dropout from_value(const kernels::Dropout& how, std::int64_t first) {
  return {how.rate, how.seed, how.counter + static_cast<std::uint64_t>(first)};
}

}  // namespace fovea
