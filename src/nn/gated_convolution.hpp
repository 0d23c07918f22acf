// A convolution over time with a gated linear unit (Dauphin et al. 2017).
#pragma once

#include <memory>
#include <string>

#include "fovea/convolution.hpp"
#include "nn/parameters.hpp"

namespace fovea {

struct GatedConvolution {
  GatedConvolution() = default;
  GatedConvolution(Parameters& p, const std::string& name, std::int64_t kernel, std::int64_t width)
      : weight(p.get(name + ".weight", {kernel * width, 2 * width}, Init::xavier)),
        bias(p.get(name + ".bias", {2 * width}, Init::zeros)),
        packed(p.packed(name + ".weight")) {}

  /// x [batch, time, width] to the same shape.
  [[nodiscard]] Var operator()(const Var& x, const Conv1dOptions& how) const {
    return conv1d_glu(x, weight, bias, how);
  }
  /// One position, for decoding: the kernel's inputs side by side [rows, kernel * width] to [rows, width].
  [[nodiscard]] Tensor step(const Tensor& window) const;

  Var weight;                                           // [kernel * width, 2 * width]
  Var bias;                                             // [2 * width]
  std::shared_ptr<const kernels::PackedMatrix> packed;  // for decoding
};

}  // namespace fovea
