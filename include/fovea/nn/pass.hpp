// One run through a model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/nn/trace.hpp"
#include "fovea/ops.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

struct Interventions;

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

/// Whether this run trains, where its dropout masks come from, and who looks on. Each call of next() gives the next
/// mask's seed, so a run is repeated exactly by starting from the same seed.
struct Pass {
  DropoutRates rates{};     // all 0 outside training
  std::uint64_t seed = 0;   // of all its masks
  std::uint64_t masks = 0;  // given so far
  Trace* trace = nullptr;   // gets what the layers compute, outside training; null: nobody wants it
  const Interventions* interventions = nullptr;  // what is changed in the run, without gradients; null: nothing is
  std::int64_t top = 0;  // attention that is asked for: only the N largest weights of each query; 0: all

  /// The next mask.
  [[nodiscard]] Dropout next(float rate) {
    if (rate <= 0) return {};
    return {rate, seed * 0x9E3779B97F4A7C15ULL + ++masks * 0xD1B54A32D192ED03ULL};
  }
  /// Tells the trace, if there is one, of SCOPE.NAME.
  void note(std::string_view scope, std::string_view name, const Var& value) const {
    if (trace != nullptr) trace->add(std::string(scope) + "." + std::string(name), value.value());
  }
  /// X with dropout, in training.
  [[nodiscard]] Var drop(const Var& x) { return rates.all > 0 ? dropout(x, next(rates.all)) : x; }
};

}  // namespace fovea
