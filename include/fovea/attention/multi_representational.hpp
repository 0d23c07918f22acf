// Attention over several embeddings of the same word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/nn/linear.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Dynamic meta-embeddings (Kiela et al. 2018): y_t = sum_n w_tn p_tn with p_tn = e_tn P_n + b_n and
/// w_t = softmax_n(c . p_tn): each word has its own weights over its embeddings.
///
///     const std::int64_t dims[] = {300, 100};
///     const MultiRepresentational layer(parameters, "embeddings", dims, 128);
///     const Var y = layer(embeddings).mixed;
struct MultiRepresentational {
  /// The mixed embeddings, and the weights.
  struct Result {
    Var mixed{};    // [B, T, d]
    Var weights{};  // [B, T, n]
  };

  MultiRepresentational() = default;
  /// Maps NAME.0, NAME.1 ..., one per embedding of width dims[n], and NAME.context.
  MultiRepresentational(Parameters& p, const std::string& name, std::span<const std::int64_t> dims, std::int64_t dim);

  /// One [B, T, d_n] per map.
  [[nodiscard]] Result operator()(std::span<const Var> embeddings) const;

  std::vector<Linear> maps{};  // d_n to d
  Var context{};               // [1, d]
};

}  // namespace fovea
