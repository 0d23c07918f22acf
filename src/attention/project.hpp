// Linear maps of rows, as scores and heads need them. Rows whose gradient is 0 are skipped: keys that no query
// attended to do not reach a parameter, not even as NaN.
#pragma once

#include <cstdint>

#include "fovea/var.hpp"

namespace fovea::attention {

/// y = x W' + b over `heads` pieces side by side in the last axis: x [..., heads * in], W [out, total], whose columns
/// `first` to first + in are used, b [out] or nothing; y [..., heads * out].
[[nodiscard]] Var project(const Var& x, const Var& w, const Var& b, std::int64_t heads = 1, std::int64_t first = 0);

/// y = x W + b with W [in, out].
[[nodiscard]] Var project_plain(const Var& x, const Var& w, const Var& b, std::int64_t heads = 1);

/// y = x / max(|x|, epsilon) for each of `heads` pieces of the last axis.
[[nodiscard]] Var unit_rows(const Var& x, float epsilon, std::int64_t heads = 1);

}  // namespace fovea::attention
