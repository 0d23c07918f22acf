// How many floating-point operations a model's mathematics needs.
#pragma once

#include <cstdint>

#include "fovea/model/config.hpp"

namespace fovea {

/// Multiplications and additions of one forward pass over a pair of `source` and `target` real tokens: matrix products
/// and attention's scores and sums, nothing elementwise, no padding. A training step needs three times as many.
[[nodiscard]] double forward_flops(const ModelConfig& config, std::int64_t source, std::int64_t target);

}  // namespace fovea
