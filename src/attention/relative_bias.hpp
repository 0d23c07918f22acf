// T5's relative bias, ready for attention: one value per head and distance.
#pragma once

#include "fovea/attention/positions.hpp"

namespace fovea::attention {

/// [heads, queries + keys - 1]: the value at j - i + queries - 1 is added to the score of query i and key j.
[[nodiscard]] Var bias_by_distance(const RelativeBias& how, std::int64_t heads, std::int64_t queries,
                                   std::int64_t keys);

}  // namespace fovea::attention
