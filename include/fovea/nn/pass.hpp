// One run through a model.
#pragma once

#include <cstdint>

#include "fovea/ops.hpp"
#include "fovea/var.hpp"

namespace fovea {

/// Shares of values dropped in training.
struct DropoutRates {
  DropoutRates() = default;
  /// The same rate everywhere.
  DropoutRates(float rate) : all(rate) {}  // NOLINT(google-explicit-constructor): the same everywhere
  /// A rate for each of the three.
  DropoutRates(float rate, float of_attention, float of_inner) : all(rate), attention(of_attention), inner(of_inner) {}

  float all = 0;          // embeddings and what a layer adds; 0 outside training
  float attention = all;  // a transformer's attention weights
  float inner = all;      // inside a transformer's feed-forward layers
};

/// Whether this run trains, and where its dropout masks come from. Each call of next() gives the next mask's seed, so a
/// run is repeated exactly by starting from the same seed.
struct Pass {
  DropoutRates rates{};     // all 0 outside training
  std::uint64_t seed = 0;   // of all its masks
  std::uint64_t masks = 0;  // given so far

  /// The next mask.
  [[nodiscard]] Dropout next(float rate) {
    if (rate <= 0) return {};
    return {rate, seed * 0x9E3779B97F4A7C15ULL + ++masks * 0xD1B54A32D192ED03ULL};
  }
  /// X with dropout, in training.
  [[nodiscard]] Var drop(const Var& x) { return rates.all > 0 ? dropout(x, next(rates.all)) : x; }
};

}  // namespace fovea
