#include "fovea/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea {

Shape::Shape(std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t size : sizes) push_back(size);
}

void Shape::push_back(std::int64_t size) {
  if (rank_ == kMaxRank) throw ShapeError(fmt::format("shape: more than {} axes", kMaxRank));
  sizes_[static_cast<std::size_t>(rank_++)] = size;
}

std::int64_t Shape::size() const {
  // Axes of size 0 are left out of the product, so that the strides of an empty shape do not overflow either.
  std::int64_t product = 1;
  bool empty = false;
  for (int i = 0; i < rank_; ++i) {
    const std::int64_t axis = sizes_[static_cast<std::size_t>(i)];
    empty = empty || axis == 0;
    if (axis < 0 || __builtin_mul_overflow(product, axis == 0 ? 1 : axis, &product)) {
      throw ShapeError("shape: " + text() + " has a negative axis or too many elements");
    }
  }
  return empty ? 0 : product;
}

Shape Shape::leading() const {
  Shape out = *this;
  if (rank_ == 0) throw ShapeError("shape: a scalar has no leading axes");
  --out.rank_;
  out.sizes_[static_cast<std::size_t>(out.rank_)] = 0;
  return out;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(sizes_.begin(), sizes_.begin() + rank_, ","));
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(sizes_.begin(), sizes_.begin() + rank_, other.sizes_.begin());
}

std::size_t Shape::index(int axis) const {
  const int i = axis < 0 ? axis + rank_ : axis;
  if (i < 0 || i >= rank_) throw ShapeError(fmt::format("shape: {} has no axis {}", text(), axis));
  return static_cast<std::size_t>(i);
}

}  // namespace fovea
