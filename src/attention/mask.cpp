#include <fmt/format.h>

#include <algorithm>

#include "fovea/attention/mask.hpp"
#include "fovea/error.hpp"

namespace fovea {

Mask Mask::of(const Shape& shape, std::span<const std::uint8_t> allowed) {
  if (shape.size() != static_cast<std::int64_t>(allowed.size())) {
    throw ShapeError(fmt::format("mask: {} values do not fill {}", allowed.size(), shape.text()));
  }
  Mask mask;
  mask.shape_ = shape;
  mask.bytes_ = Tensor::empty({(shape.size() + 3) / 4});
  std::copy(allowed.begin(), allowed.end(), reinterpret_cast<std::uint8_t*>(mask.bytes_.data()));
  return mask;
}

const std::uint8_t* Mask::data() const {
  return reinterpret_cast<const std::uint8_t*>(bytes_.data());
}

}  // namespace fovea
