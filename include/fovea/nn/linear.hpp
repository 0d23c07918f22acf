// y = x W + b
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/ops.hpp"

namespace fovea {

/// f(x W + b) at every position.
///
///     const Linear layer(parameters, "decoder.query", 128, 64);
///     const Var y = layer(x, Activation::relu);  // [.., 128] to [.., 64]
struct Linear {
  Linear() = default;
  /// Weights NAME.weight and, with a bias, NAME.bias.
  Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, bool with_bias = true)
      : weight(p.matrix(name + ".weight", {in, out}, Init::xavier)),
        bias(with_bias ? p.get(name + ".bias", {out}, Init::zeros) : Var()) {}

  /// Whether it has weights.
  explicit operator bool() const { return static_cast<bool>(weight); }

  /// dropout(f(x W + b)): x [.., in] to [.., out]; on the packed weights when nothing is recorded.
  [[nodiscard]] Var operator()(const Var& x, Activation activation = Activation::none,
                               const Dropout& dropout = {}) const;

  Weight weight{};  // [in, out]
  Var bias{};       // [out], optional
};

}  // namespace fovea
