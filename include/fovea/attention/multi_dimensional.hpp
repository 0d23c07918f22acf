// A weight for every feature, not only for every key.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// Which keys token2token sees: the forward and backward masks of DiSAN leave out the query itself.
enum class Direction { both, forward, backward };  // forward: keys j < i, backward: keys j > i

/// y_if = sum_j softmax_j(f(a_if + b_jf)) v_jf with f(x) = c tanh(x / c), or f(x) = x for c = 0: attention with a
/// weight per feature, in linear memory. a [B, Tq, d], b and v [B, Tk, d].
[[nodiscard]] Var feature_attend(const Var& a, const Var& b, const Var& v, float c,
                                 std::span<const std::int64_t> lengths = {}, Direction direction = Direction::both);

/// Multi-dimensional self-attention (Shen et al. 2018, DiSAN): every token reads every token, feature by feature.
///   token2token   s_ij = c tanh((x_i W_1 + x_j W_2 + b) / c), y_i = sum_j softmax_j(s_ij) * x_j
struct MultiDimensional {
  Var w_1{}, w_2{};  // [d, d]
  Var b{};           // [d]
  float c = 5;

  [[nodiscard]] static MultiDimensional make(std::int64_t dim, std::uint64_t seed);
  /// x [B, T, d] to [B, T, d].
  [[nodiscard]] Var operator()(const Var& x, std::span<const std::int64_t> lengths = {},
                               Direction direction = Direction::both) const;
  [[nodiscard]] NamedVars parameters() const { return {{"w_1", w_1}, {"w_2", w_2}, {"b", b}}; }
};

/// The same, a whole sequence into one vector (Shen et al. 2018, "source2token").
///   s_j = W' elu(x_j W_1 + b_1) + b,  y = sum_j softmax_j(s_j) * x_j, feature by feature
struct MultiDimensionalPooling {
  Var w_1{}, b_1{};  // [d, d], [d]
  Var w{}, b{};      // [d, d], [d]

  [[nodiscard]] static MultiDimensionalPooling make(std::int64_t dim, std::uint64_t seed);
  /// x [B, T, d] to [B, d].
  [[nodiscard]] Var operator()(const Var& x, std::span<const std::int64_t> lengths = {}) const;
  [[nodiscard]] NamedVars parameters() const { return {{"w_1", w_1}, {"b_1", b_1}, {"w", w}, {"b", b}}; }
};

}  // namespace fovea
