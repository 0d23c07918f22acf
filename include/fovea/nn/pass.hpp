// One run through layers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/nn/trace.hpp"
#include "fovea/ops.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Shares of values dropped in training.
struct DropoutRates {
  DropoutRates() = default;
  /// The same rate everywhere.
  DropoutRates(float rate) : all(rate) {}  // NOLINT(google-explicit-constructor): the same everywhere
  /// A rate for each of the three.
  DropoutRates(float rate, float of_attention, float of_inner) : all(rate), attention(of_attention), inner(of_inner) {}

  float all = 0;          // embeddings and what a layer adds; 0 outside training
  float attention = all;  // a Transformer's attention weights
  float inner = all;      // inside a Transformer's feed-forward layers
};

/// Where the dropout masks of a run come from, and whether its values are recorded. Each call of next() gives the next
/// mask's seed, so a run that starts with the same seed is repeated exactly.
struct LayerPass {
  LayerPass() = default;
  /// A run that trains.
  LayerPass(const DropoutRates& dropout, std::uint64_t masks_seed) : rates(dropout), seed(masks_seed) {}

  DropoutRates rates{};     // all 0 outside training
  std::uint64_t seed = 0;   // of all its masks
  std::uint64_t masks = 0;  // given so far
  Trace* trace = nullptr;   // records what the layers compute, outside training; null: nothing is recorded

  /// The next mask.
  [[nodiscard]] Dropout next(float rate) {
    if (rate <= 0) return {};
    return {rate, seed * 0x9E3779B97F4A7C15ULL + ++masks * 0xD1B54A32D192ED03ULL};
  }
  /// Records SCOPE.NAME in the trace, if there is one.
  void note(std::string_view scope, std::string_view name, const Var& value) const {
    if (trace != nullptr) trace->add(std::string(scope) + "." + std::string(name), value.value());
  }
  /// X with dropout, in training.
  [[nodiscard]] Var drop(const Var& x) { return rates.all > 0 ? dropout(x, next(rates.all)) : x; }
};

}  // namespace fovea
