// f(x W1 + b1) W2 + b2 at every position (Vaswani et al. 2017, eq. 2).
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/linear.hpp"
#include "fovea/nn/pass.hpp"

namespace FOVEA_API fovea {

/// Options of FeedForward.
struct FeedForwardOptions {
  Activation activation = Activation::relu;  // between the maps
  bool bias = true;                          // whether the maps have one
};

/// Two maps with an activation between them (Vaswani et al. 2017, section 3.3).
struct FeedForward {
  FeedForward() = default;
  /// The maps NAME.first and NAME.second.
  FeedForward(Parameters& p, const std::string& name, std::int64_t width, std::int64_t inner,
              const FeedForwardOptions& options = {})
      : first(p, name + ".first", width, inner, {.bias = options.bias}),
        second(p, name + ".second", inner, width, {.bias = options.bias}),
        activation(options.activation) {}

  /// x [.., width] to the same shape.
  [[nodiscard]] Var operator()(const Var& x, LayerPass& pass) const {
    return second(first(x, activation, pass.next(pass.rates.inner)));
  }

  Linear first{}, second{};                  // to the inner width and back
  Activation activation = Activation::relu;  // between them
};

}  // namespace fovea
