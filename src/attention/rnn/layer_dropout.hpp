// Dropout between a decoder's layers: one draw per (layer, sequence, step, unit), the same forward and backward.
#pragma once

#include "attention/rnn/decoder.hpp"
#include "kernels/weight_dropout.hpp"

namespace fovea::decoder {

/// y = x / (1 - rate) where x is kept, else 0; or y += with `add`.
inline void drop(const Decoder& d, Int layer, Int b, Int step, const float* x, float* y, bool add) {
  const Int first = ((layer * d.batch + b) * d.steps + step) * d.units;
  const kernels::WeightDropout how{d.dropout, d.dropout_seed, static_cast<std::uint64_t>(first)};
  const float scale = 1.0F / (1.0F - d.dropout);
  for (Int i = 0; i < d.units; ++i) {
    y[i] = (add ? y[i] : 0.0F) + (kernels::weight_kept(how, i) ? scale * x[i] : 0.0F);
  }
}

}  // namespace fovea::decoder
