// Differentiable operations. Each stands in src/autograd/ops/NAME.cpp, forward and backward together, with both
// formulas on top. All throw ShapeError naming the op and the shapes when these do not fit.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/var.hpp"

namespace fovea {

// --- arithmetic ----------------------------------------------------------------------------------------------------
[[nodiscard]] Var add(const Var& a, const Var& b);  // same shape
[[nodiscard]] Var sum(const Var& x);                // all values, as a scalar of shape []

}  // namespace fovea
