// How two shapes of an elementwise op fit together.
#pragma once

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/shape.hpp"

namespace fovea {

/// Whether `small` is the last axes of `large`: a bias [d] in [batch, time, d].
inline bool is_trailing(const Shape& small, const Shape& large) {
  if (small.rank() > large.rank()) return false;
  for (int i = 1; i <= small.rank(); ++i) {
    if (small[-i] != large[-i]) return false;
  }
  return true;
}

/// Throws ShapeError unless b is of a's shape or of its last axes.
inline void check_trailing(const char* op, const Shape& a, const Shape& b) {
  if (!is_trailing(b, a)) {
    throw ShapeError(fmt::format("{}: {} and {} differ, and {} is not the last axes of {}", op, a.text(), b.text(),
                                 b.text(), a.text()));
  }
}

}  // namespace fovea
