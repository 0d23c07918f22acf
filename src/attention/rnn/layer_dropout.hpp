// Dropout between a decoder's layers: one draw per (layer, sequence, step, unit), the same forward and backward.
#pragma once

#include "attention/rnn/decoder.hpp"
#include "kernels/kernels.hpp"
#include "kernels/random.hpp"

namespace fovea::decoder {

/// y = x / (1 - rate) where x is kept, else 0; or y += with `add`.
inline void drop(const Decoder& d, Int layer, Int b, Int step, const float* x, float* y, bool add) {
  const Int first = ((layer * d.batch + b) * d.steps + step) * d.units;
  kernels::active().random->dropout({d.dropout, d.dropout_seed, static_cast<std::uint64_t>(first)}, x, y, d.units, add);
}

}  // namespace fovea::decoder
