// y = gain * (x - mean) / deviation + bias over the last axis (Ba et al. 2016).
#pragma once

#include <string>

#include "fovea/ops.hpp"
#include "nn/parameters.hpp"
#include "nn/pass.hpp"

namespace fovea {

struct LayerNorm {
  LayerNorm() = default;
  LayerNorm(Parameters& p, const std::string& name, std::int64_t width)
      : gain(p.get(name + ".gain", {width}, Init::ones)), bias(p.get(name + ".bias", {width}, Init::zeros)) {}
  Var operator()(const Var& x) const { return layer_norm(x, gain, bias); }

  Var gain;
  Var bias;
};

/// x + dropout(y) and its norm.
inline ResidualNorm residual(const Var& x, const Var& y, const LayerNorm& norm, Pass& pass) {
  return residual_norm(x, y, norm.gain, norm.bias,
                       {.dropout = {pass.dropout.all, pass.dropout.all > 0 ? pass.next_seed() : 0}});
}

}  // namespace fovea
