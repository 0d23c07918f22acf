// A batch cut into the parts that one thread works on at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/train/learner.hpp"

namespace fovea {

/// Puts the examples of a batch in an order of similar sizes and cuts it into contiguous groups of about micro_tokens
/// outputs each, as many as a multiple of `workers` if there are enough examples; ends[g] is where group g ends.
/// Depends on the batch alone.
void cut_batch(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int workers,
               std::vector<std::size_t>& ends);

}  // namespace fovea
