// The simpler simple recurrent unit, which can replace a decoder's self-attention.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/linear.hpp"
#include "fovea/recurrent.hpp"

namespace FOVEA_API fovea {

/// f_t = s(x_t W_f + b_f), c_t = f_t c_{t-1} + (1 - f_t) x_t W, y_t = max(c_t, 0)  (Kim et al. 2019, section 3.2).
/// A step needs the cell and nothing else of the past, however long it is.
///
///     const Ssru layer(parameters, "decoder.0.ssru", 128);
///     const Var y = layer(x);  // [B, T, 128]
struct Ssru {
  Ssru() = default;
  /// The maps NAME.input, without a bias, and NAME.forget.
  Ssru(Parameters& p, const std::string& name, std::int64_t dim)
      : input(p, name + ".input", dim, dim, {.bias = false}), forget(p, name + ".forget", dim, dim) {}

  /// x [B, T, dim] to the same shape.
  [[nodiscard]] Var operator()(const Var& x) const { return ssru(input(x), forget(x)); }
  /// One step without a gradient: x [rows, dim]; `cell` [rows, dim] is changed in place, zeros at the start. Throws
  /// ShapeError when the shapes do not fit or the cell is not contiguous.
  [[nodiscard]] Tensor step(const Tensor& x, const Tensor& cell) const;

  Linear input{}, forget{};  // W; W_f and b_f
};

}  // namespace fovea
