// y = gain * (x - mean) / deviation + bias over the last axis (Ba et al. 2016).
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/nn/pass.hpp"
#include "fovea/ops.hpp"

namespace FOVEA_API fovea {

/// Layer normalisation over the last axis (Ba et al. 2016).
struct LayerNorm {
  LayerNorm() = default;
  /// Weights NAME.gain and NAME.bias.
  LayerNorm(Parameters& p, const std::string& name, std::int64_t width, const LayerNormOptions& options = {})
      : gain(p.get(name + ".gain", {width}, Init::ones)),
        bias(p.get(name + ".bias", {width}, Init::zeros)),
        epsilon(options.epsilon) {}

  /// x [.., width] to the same shape.
  [[nodiscard]] Var operator()(const Var& x) const { return layer_norm(x, gain, bias, {.epsilon = epsilon}); }
  /// x + dropout(y) and the norm of it, in one pass over memory.
  [[nodiscard]] ResidualNorm residual(const Var& x, const Var& y, LayerPass& pass) const {
    return residual_norm(x, y, gain, bias, {.dropout = pass.next(pass.rates.all), .epsilon = epsilon});
  }

  Var gain{}, bias{};     // [width]
  float epsilon = 1e-5F;  // added to the variance
};

}  // namespace fovea
