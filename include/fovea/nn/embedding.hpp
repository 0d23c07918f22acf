// Tokens as vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/ops.hpp"

namespace fovea {

/// A row of a table per token. The table starts with deviation 1 / sqrt(width), which suits an output layer that shares
/// it. Everything else wants vectors of deviation 1, which scaling by sqrt(width) gives: positions are as large, and
/// the gates of an RNN hardly notice anything smaller.
struct Embedding {
  Embedding() = default;
  /// The weight NAME.
  Embedding(Parameters& p, const std::string& name, std::int64_t tokens, std::int64_t width, bool scaled = true)
      : table(p.get(name, {tokens, width}, Init::embedding)),
        scale(scaled ? std::sqrt(static_cast<float>(width)) : 1.0F) {}

  /// ids in the order of `shape`, to [shape.., width]. Throws Error for an id that is not in the table.
  [[nodiscard]] Var operator()(std::span<const std::int32_t> ids, const Shape& shape) const {
    return embedding(table, ids, shape, scale);
  }
  /// Of a vector.
  [[nodiscard]] std::int64_t width() const { return table.dim(1); }

  Var table{};      // [tokens, width]
  float scale = 1;  // what the vectors are multiplied by
};

}  // namespace fovea
