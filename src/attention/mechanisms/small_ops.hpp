// Ops that only the shapes of use need, and how their weights start.
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.hpp"
#include "fovea/var.hpp"

namespace fovea::attention {

/// Uniform in +-sqrt(6 / (rows + columns))  (Glorot and Bengio 2010), a parameter.
[[nodiscard]] Var xavier(std::int64_t rows, std::int64_t columns, Rng& rng);
[[nodiscard]] Var normal(const Shape& shape, double deviation, Rng& rng);
[[nodiscard]] Var zero_parameter(const Shape& shape);

/// n times [..., d] to [rows, n, d], rows = everything before d.
[[nodiscard]] Var stack_rows(std::span<const Var> parts);
/// T times [B, 1, d] to [B, T, d].
[[nodiscard]] Var join_steps(std::span<const Var> steps);
/// x [..., heads * d] and a [heads, d]: the dot product of each head, [..., heads].
[[nodiscard]] Var head_dots(const Var& x, const Var& a);
/// 1 / (1 + exp(-x)).
[[nodiscard]] Var sigmoid_of(const Var& x);
/// x for x > 0, else exp(x) - 1.
[[nodiscard]] Var elu_of(const Var& x);

}  // namespace fovea::attention
