// A weight for every feature, not only for every key.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Which keys a query attends to: the forward and backward masks of DiSAN leave out the query itself.
enum class Direction { both, forward, backward };  // forward: keys j < i, backward: keys j > i

/// y_if = sum_j softmax_j(f(a_if + b_jf)) v_jf with f(x) = c tanh(x / c), or f(x) = x for c = 0: attention with a
/// weight per feature, in linear memory. a [B, Tq, d], b and v [B, Tk, d].
[[nodiscard]] Var feature_attend(const Var& a, const Var& b, const Var& v, float c,
                                 std::span<const std::int64_t> lengths = {}, Direction direction = Direction::both);

/// Multi-dimensional self-attention (Shen et al. 2018, DiSAN): every token attends to every token, feature by feature.
///   token2token   s_ij = c tanh((x_i W_1 + x_j W_2 + b) / c), y_i = sum_j softmax_j(s_ij) * x_j
struct MultiDimensional {
  MultiDimensional() = default;
  /// Weights NAME.w_1, NAME.w_2 and NAME.b.
  MultiDimensional(Parameters& p, const std::string& name, std::int64_t dim);

  /// x [B, T, d] to [B, T, d].
  [[nodiscard]] Var operator()(const Var& x, std::span<const std::int64_t> lengths = {},
                               Direction direction = Direction::both) const;

  Var w_1{}, w_2{};  // [d, d]
  Var b{};           // [d]
  float c = 5;       // scores stay between -c and c; 0: no limit
};

/// The same, a whole sequence into one vector (Shen et al. 2018, "source2token").
///   s_j = W' elu(x_j W_1 + b_1) + b,  y = sum_j softmax_j(s_j) * x_j, feature by feature
struct MultiDimensionalPooling {
  MultiDimensionalPooling() = default;
  /// Weights NAME.w_1, NAME.b_1, NAME.w and NAME.b.
  MultiDimensionalPooling(Parameters& p, const std::string& name, std::int64_t dim);

  /// x [B, T, d] to [B, d].
  [[nodiscard]] Var operator()(const Var& x, std::span<const std::int64_t> lengths = {}) const;

  Var w_1{}, b_1{};  // [d, d], [d]
  Var w{}, b{};      // [d, d], [d]
};

}  // namespace fovea
