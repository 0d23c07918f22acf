// Attention over several embeddings of the same word.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/attention/multi_head.hpp"

namespace fovea {

/// Dynamic meta-embeddings (Kiela et al. 2018): y_t = sum_n w_tn p_tn with p_tn = e_tn P_n + b_n and
/// w_t = softmax_n(c . p_tn): each word chooses among its representations.
struct MultiRepresentational {
  struct Projection {
    Var weight{};  // [d_n, d]
    Var bias{};    // [d]
  };
  std::vector<Projection> projections{};
  Var context{};  // [1, d]

  struct Mixed {
    Var mixed{};    // [B, T, d]
    Var weights{};  // [B, T, n]
  };

  [[nodiscard]] static MultiRepresentational make(std::span<const std::int64_t> dims, std::int64_t dim,
                                                  std::uint64_t seed);
  /// One [B, T, d_n] per projection.
  [[nodiscard]] Mixed operator()(std::span<const Var> embeddings) const;
  [[nodiscard]] NamedVars parameters() const;
};

}  // namespace fovea
