// Attention that remembers where it has looked.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// Additive attention with coverage (See et al. 2017, eq. 10 to 12): step t scores v . tanh(W q_t + U k_j + c_j w_c +
/// b) where c = sum of the weights of the steps before. Steps follow each other: time grows with queries, not only
/// work.
struct CoverageAttention {
  Var w{}, u{};                     // [h, dq], [h, dk]
  Var v{}, b{}, coverage_weight{};  // [h] each

  struct Read {
    Var context{};   // [B, Tq, dv]
    Var weights{};   // [B, Tq, Tk]
    Var coverage{};  // [B, Tk], after the last step
    Var loss{};      // [], see coverage_loss, mean over the queries
  };

  [[nodiscard]] static CoverageAttention make(std::int64_t query_dim, std::int64_t key_dim, std::int64_t hidden,
                                              std::uint64_t seed);
  /// `coverage`: from steps before, [B, Tk]; nothing: zeros.
  [[nodiscard]] Read operator()(const Var& query, const Var& key, const Var& value,
                                std::span<const std::int64_t> lengths = {}, const Var& coverage = {}) const;
  [[nodiscard]] NamedVars parameters() const {
    return {{"w", w}, {"u", u}, {"v", v}, {"b", b}, {"coverage_weight", coverage_weight}};
  }
};

/// sum_j min(w_j, c_j), mean over the rows: looking again where one has looked costs. Both [..., Tk].
[[nodiscard]] Var coverage_loss(const Var& weights, const Var& coverage);

}  // namespace fovea
