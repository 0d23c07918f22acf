// The loss of a batch.
#pragma once

#include <cstdint>

#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// How the loss of a batch is computed. With r_drop the batch holds every example twice; see CrossEntropyOptions.
struct LossOptions {
  float label_smoothing = 0;  // probability spread over the vocabulary
  float r_drop = 0;           // weight of R-Drop; 0: none
  float coverage = 0;         // weight of attending again to the same source tokens; 0: none
  // Xu et al. 2015, eq. 14: weight of sum over the source's places of (1 - the attention it gets in all)^2, so that no
  // place is left out; 0: none
  float doubly_stochastic = 0;
  float reinforce = 1;  // of hard attention: weight of what the sampled places are rewarded with
  float entropy = 0;    // of hard attention: weight of the entropy of its probabilities, so that they stay open
};

/// The loss of a batch, and what it was made from.
struct BatchLoss {
  Var loss{};                // summed over the outputs, with label smoothing and R-Drop
  std::int64_t outputs = 0;  // target tokens, each end of sequence included; or labels
  double nll = 0;            // summed -log p, without smoothing
  std::int64_t correct = 0;  // outputs whose best guess was right
};

}  // namespace fovea
