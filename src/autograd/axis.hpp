// A packed array along one axis: [outer, n, inner].
#pragma once

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/shape.hpp"

namespace fovea {

struct Axis {
  std::int64_t outer = 1, n = 1, inner = 1;
  int index = 0;  // counted from the front
};

/// Throws ShapeError naming the op when there is no such axis; negative axes count from the end.
inline Axis axis_of(const char* op, const Shape& shape, int axis) {
  const int index = axis < 0 ? axis + shape.rank() : axis;
  if (index < 0 || index >= shape.rank()) {
    throw ShapeError(fmt::format("{}: {} has no axis {}", op, shape.text(), axis));
  }
  Axis a;
  a.index = index;
  a.n = shape[index];
  for (int i = 0; i < index; ++i) a.outer *= shape[i];
  for (int i = index + 1; i < shape.rank(); ++i) a.inner *= shape[i];
  return a;
}

inline Shape without_axis(const Shape& shape, int index) {
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != index) out.push_back(shape[i]);
  }
  return out;
}

}  // namespace fovea
