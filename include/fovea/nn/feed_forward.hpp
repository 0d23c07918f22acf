// f(x W1 + b1) W2 + b2 at every position (Vaswani et al. 2017, eq. 2).
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/linear.hpp"
#include "fovea/nn/pass.hpp"

namespace FOVEA_API fovea {

/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: GELU as GPT-2 approximates it (Hendrycks and Gimpel 2016, section
/// 2). Composed of other ops; (1 + tanh u) / 2 is sigmoid(2 u).
[[nodiscard]] Var gelu_by_tanh(const Var& x);

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
  [[nodiscard]] Var operator()(const Var& x, Pass& pass) const {
    if (approximate_gelu) return second(dropout(gelu_by_tanh(first(x)), pass.next(pass.rates.inner)));
    return second(first(x, activation, pass.next(pass.rates.inner)));
  }

  Linear first{}, second{};                  // to the inner width and back
  Activation activation = Activation::relu;  // between them
  bool approximate_gelu = false;             // in its place gelu_by_tanh()
};

}  // namespace fovea
