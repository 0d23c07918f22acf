// Small ops that lay out what several sequences share.
#pragma once

#include <cstdint>

#include "fovea/var.hpp"

namespace fovea::attention {

/// x [T, d] for every sequence: [batch, T, d].
[[nodiscard]] Var repeat_batch(const Var& x, std::int64_t batch);
/// The first `rows` rows of w [L, d] for every sequence and head: [batch, heads, rows, d].
[[nodiscard]] Var repeat_rows(const Var& w, std::int64_t rows, std::int64_t batch, std::int64_t heads);
/// k [B, T, h] or [B, 1, T, h] plus c [B, T] times w [h].
[[nodiscard]] Var add_outer(const Var& k, const Var& c, const Var& w);

}  // namespace fovea::attention
