// y = x W + b
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/ops.hpp"

namespace FOVEA_API fovea {

/// Options of Linear.
struct LinearOptions {
  bool bias = true;  // whether b is added
};

/// f(x W + b) at every position.
///
///     const Linear layer(parameters, "decoder.query", 128, 64);
///     const Linear plain(parameters, "decoder.key", 128, 64, {.bias = false});
///     const Var y = layer(x, Activation::relu);  // [.., 128] to [.., 64]
struct Linear {
  Linear() = default;
  /// Weights NAME.weight and, with a bias, NAME.bias.
  Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, const LinearOptions& options = {})
      : weight(p.matrix(name + ".weight", {in, out}, Init::xavier)),
        bias(options.bias ? p.get(name + ".bias", {out}, Init::zeros) : Var()) {}

  /// False for a default-constructed layer, which has no weights.
  explicit operator bool() const { return static_cast<bool>(weight); }

  /// dropout(f(x W + b)): x [.., in] to [.., out]; on the packed weights when nothing is recorded.
  [[nodiscard]] Var operator()(const Var& x, Activation activation = Activation::none,
                               const Dropout& dropout = {}) const;

  Weight weight{};  // [in, out]
  Var bias{};       // [out], optional
};

}  // namespace fovea
