// Average attention: every earlier position has the same weight.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/feed_forward.hpp"

namespace FOVEA_API fovea {

/// Sizes of AverageAttention.
struct AverageAttentionOptions {
  std::int64_t dim = 0;                      // of what attends, and of the output
  std::int64_t inner = 0;                    // of the feed-forward layer
  Activation activation = Activation::relu;  // inside it
  bool bias = true;                          // whether its maps have one
};

/// g_t = FFN((x_1 + … + x_t) / t), [i_t; f_t] = s(W [x_t; g_t] + b), y_t = i_t x_t + f_t g_t  (Zhang et al. 2018,
/// section 3). A step needs the sum of what came before and nothing else, however long it is.
///
///     const AverageAttention layer(parameters, "decoder.0.average", {.dim = 128, .inner = 256});
///     const Var y = layer(x, pass);  // [B, T, 128]
struct AverageAttention {
  AverageAttention() = default;
  /// The feed-forward layer NAME.feed; W's halves NAME.gate_input, with b, and NAME.gate_average.
  AverageAttention(Parameters& p, const std::string& name, const AverageAttentionOptions& options);

  /// x [B, T, dim] to the same shape.
  [[nodiscard]] Var operator()(const Var& x, LayerPass& pass) const;
  /// One step without a gradient: x [rows, dim]; `sum` [rows, dim], zeros at the start, gets x added; `count`: steps,
  /// this one included. Throws ShapeError when the shapes do not fit or the sum is not contiguous.
  [[nodiscard]] Tensor step(const Tensor& x, const Tensor& sum, std::int64_t count) const;

  FeedForward feed{};                   // of the mean
  Linear gate_input{}, gate_average{};  // each to both gates, [dim, 2 dim]: i, then f

 private:
  [[nodiscard]] Var gated(const Var& x, const Var& mean, LayerPass& pass) const;
};

}  // namespace fovea
