// One run through a model.
#pragma once

#include <cstdint>

#include "fovea/nn/pass.hpp"

namespace FOVEA_API fovea {

struct Interventions;

/// What a run does besides computing: dropout and a trace (LayerPass), and changes to attention.
struct Pass : LayerPass {
  using LayerPass::LayerPass;

  const Interventions* interventions = nullptr;  // what is changed in the run, without gradients; null: nothing
  std::int64_t top = 0;  // of attention weights that are reported, only the N largest of each query; 0: all
};

}  // namespace fovea
