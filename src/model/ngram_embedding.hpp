// Embeddings of the runs of tokens around each token, beside its own: what a run of letters usually means can be looked
// up instead of being worked out by the layers. A look-up costs no product, whatever the size of the table (character
// n-grams: Bojanowski et al. 2017; as input of a model that has context of its own: Huang et al. 2025).
#pragma once

#include <string>

#include "fovea/var.hpp"
#include "model/encoder.hpp"
#include "nn/parameters.hpp"

namespace fovea {

/// A table that runs of 2 to `longest` tokens share by a hash of their ids. Its rows start at 0: a run that was never
/// seen adds nothing, unless one that was has the same hash.
class NgramEmbedding {
 public:
  NgramEmbedding() = default;
  NgramEmbedding(Parameters& p, const std::string& name, int longest, std::int64_t rows, std::int64_t width);

  /// x [batch, length, width] with `factor` times the rows of the runs around each token added.
  [[nodiscard]] Var add_to(const Var& x, const Tokens& tokens, float factor) const;

 private:
  int longest_ = 1;
  Var table_;  // [rows, width]
};

}  // namespace fovea
