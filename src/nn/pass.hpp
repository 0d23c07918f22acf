// One run through a model.
#pragma once

#include <cstdint>

#include "fovea/ops.hpp"
#include "fovea/var.hpp"

namespace fovea {

/// Whether this run trains, and where its dropout masks come from. Each call of next_seed gives the next mask's seed,
/// so a run is repeated exactly by starting from the same seed.
struct Pass {
  float dropout = 0;  // 0 outside training
  std::uint64_t seed = 0;
  std::uint64_t masks = 0;

  std::uint64_t next_seed() { return seed * 0x9E3779B97F4A7C15ULL + ++masks * 0xD1B54A32D192ED03ULL; }
  Var drop(const Var& x) { return dropout > 0 ? fovea::dropout(x, dropout, next_seed()) : x; }
};

}  // namespace fovea
