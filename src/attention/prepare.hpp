// From a call of attend() to a Plan.
#pragma once

#include "attention/plan.hpp"

namespace fovea::attention {

/// Checks every shape and option, applies the score's transformation to queries and keys, lays out all arrays. Throws
/// ShapeError and UsageError naming what does not fit.
[[nodiscard]] detail::Ref<Plan> prepare(const Var& query, const Var& key, const Var& value, const AttendOptions& how);

/// How the shapes of query, key and value were read.
struct Sizes {
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0;
  std::int64_t query_dim = 0, key_dim = 0, value_dim = 0;
  std::int64_t packed_heads = 1, packed_kv_heads = 1;
};
[[nodiscard]] Sizes read_sizes(const Shape& query, const Shape& key, const Shape& value, const AttendOptions& how);

/// The dot product or additive sum that a score comes down to: plan.kind, scale, q, k, dim and the vector, row_term.
void transform(Plan& plan, const Sizes& sizes, const Var& query, const Var& key, const AttendOptions& how);

}  // namespace fovea::attention
