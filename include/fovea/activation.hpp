// The nonlinear functions that layers and scores apply to their sums.
#pragma once

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// f(x) of each value x.
enum class Activation {
  none,        // x
  relu,        // max(x, 0)
  leaky_relu,  // x above 0, 0.2 x below (Maas et al. 2013)
  gelu,        // x Phi(x), exact (Hendrycks and Gimpel 2016)
  gelu_tanh,   // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, the approximation that GPT-2 uses
  swish,       // x sigmoid(x), also called SiLU (Ramachandran et al. 2017)
  tanh,
  sigmoid  // 1 / (1 + exp(-x))
};

}  // namespace fovea
