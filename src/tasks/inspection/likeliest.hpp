// What runs that keep every number have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fovea/model_run.hpp"
#include "fovea/text.hpp"

namespace fovea {

/// The likeliest tokens of a row of log-probabilities, and `chosen` where it is not among them.
[[nodiscard]] std::vector<Candidate> likeliest(const float* row, std::int64_t count, std::int32_t chosen,
                                               const Tokenizer& tokenizer);

/// Throws UsageError for more tokens than a run is kept of.
void check_explained(std::size_t tokens);

}  // namespace fovea
