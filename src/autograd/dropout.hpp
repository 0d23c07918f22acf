// Dropout as the kernels take it.
#pragma once

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "kernels/random.hpp"

namespace fovea {

/// Throws UsageError unless 0 <= rate < 1.
inline kernels::Dropout make_dropout(const char* op, float rate, std::uint64_t seed) {
  if (!(rate >= 0 && rate < 1)) throw UsageError(fmt::format("{}: rate {} is not in [0, 1)", op, rate));
  return {.rate = rate, .seed = seed};
}

/// The same for the part of the array that begins at value `first`.
inline kernels::Dropout from_value(const kernels::Dropout& how, std::int64_t first) {
  return {how.rate, how.seed, how.counter + static_cast<std::uint64_t>(first)};
}

}  // namespace fovea
