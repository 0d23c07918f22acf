// Which weights dropout keeps: those of random.hpp's generator by the weight's number, so that the backward pass finds
// the same.
#pragma once

#include <cstdint>

#include "kernels/attention.hpp"
#include "kernels/random.hpp"

namespace fovea::kernels {

FOVEA_ALWAYS_INLINE bool weight_kept(const WeightDropout& dropout, std::int64_t pair) {
  return dropout_keeps(dropout.seed, dropout.counter + static_cast<std::uint64_t>(pair),
                       dropout_threshold(dropout.rate));
}

}  // namespace fovea::kernels
