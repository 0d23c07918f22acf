// y = x W + b
#pragma once

#include <memory>
#include <string>

#include "fovea/ops.hpp"
#include "nn/parameters.hpp"

namespace fovea {

struct Linear {
  Linear() = default;
  Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, bool with_bias = true)
      : weight(p.get(name + ".weight", {in, out}, Init::xavier)),
        bias(with_bias ? p.get(name + ".bias", {out}, Init::zeros) : Var()),
        packed(p.packed(name + ".weight")) {}

  Var operator()(const Var& x, Activation activation = Activation::none) const {
    return linear(x, weight, bias, activation);
  }

  Var weight;                                           // [in, out]
  Var bias;                                             // [out], optional
  std::shared_ptr<const kernels::PackedMatrix> packed;  // for decoding
};

}  // namespace fovea
