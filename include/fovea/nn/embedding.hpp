// Tokens as vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/ops.hpp"

namespace FOVEA_API fovea {

/// Options of Embedding and RowTable.
struct EmbeddingOptions {
  bool scaled = true;  // multiply the vectors by the root of the width
};

/// A row of a table per token. The table is initialized with deviation 1 / sqrt(width), as an output layer that shares
/// it needs. Scaling by sqrt(width) gives vectors of deviation 1, as large as positions; smaller ones hardly move the
/// gates of an RNN.
struct Embedding {
  Embedding() = default;
  /// The weight NAME.
  Embedding(Parameters& p, const std::string& name, std::int64_t tokens, std::int64_t width,
            const EmbeddingOptions& options = {})
      : table(p.get(name, {tokens, width}, Init::embedding)),
        scale(options.scaled ? std::sqrt(static_cast<float>(width)) : 1.0F) {}

  /// ids in the order of `shape`, to [shape.., width]. Throws Error for an id that is not in the table.
  [[nodiscard]] Var operator()(std::span<const std::int32_t> ids, const Shape& shape) const {
    return embedding(table, ids, shape, scale);
  }
  /// Length of a vector.
  [[nodiscard]] std::int64_t width() const { return table.dim(1); }

  Var table{};      // [tokens, width]
  float scale = 1;  // what the vectors are multiplied by
};

}  // namespace fovea
