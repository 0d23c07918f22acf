// Rows of an array in another order, as DecoderState::keep() needs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "fovea/tensor.hpp"

namespace fovea {

/// Rows `from` of an array [n, ...], copied.
[[nodiscard]] inline Tensor take_rows(const Tensor& array, std::span<const std::int32_t> from) {
  const Tensor in = array.contiguous();
  Shape shape = in.shape();
  shape.set(0, static_cast<std::int64_t>(from.size()));
  Tensor out = Tensor::empty(shape);
  const std::int64_t width = in.dim(0) > 0 ? in.size() / in.dim(0) : 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy_n(in.data() + from[i] * width, width, out.data() + static_cast<std::int64_t>(i) * width);
  }
  return out;
}

}  // namespace fovea
