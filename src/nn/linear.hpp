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

  /// x [.., in] to dropout(f(x W + b)) [.., out]; on the packed weights when nothing is recorded.
  Var operator()(const Var& x, Activation activation = Activation::none, float rate = 0, std::uint64_t seed = 0) const;

  Var weight;                                           // [in, out]
  Var bias;                                             // [out], optional
  std::shared_ptr<const kernels::PackedMatrix> packed;  // for decoding
};

/// f(x W + b) with packed weights: x [.., in], bias [out] or empty.
[[nodiscard]] Tensor apply_packed(const Tensor& x, const kernels::PackedMatrix& weight, const Tensor& bias,
                                  Activation activation = Activation::none);

}  // namespace fovea
