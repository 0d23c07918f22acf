#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fovea/attention/mask.hpp"
#include "fovea/error.hpp"

namespace fovea {

Mask Mask::of(const Shape& shape, std::span<const std::uint8_t> allowed) {
  if (shape.size() != static_cast<std::int64_t>(allowed.size())) {
    throw ShapeError(fmt::format("mask: {} values do not fill {}", allowed.size(), shape.text()));
  }
  const auto bytes = std::make_shared<std::uint8_t[]>(allowed.size());
  std::copy(allowed.begin(), allowed.end(), bytes.get());
  return share(shape, {bytes, bytes.get()});
}

Mask Mask::share(const Shape& shape, std::shared_ptr<const std::uint8_t> allowed) {
  Mask mask;
  mask.shape_ = shape;
  mask.bytes_ = std::move(allowed);
  return mask;
}

}  // namespace fovea
