// A table of vectors: each step reads few of its rows, and trains only those.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/nn/embedding.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace FOVEA_API fovea {

/// An embedding whose gradient holds only the rows that were read: the time of a step does not depend on the size of
/// the table. Given trained(), Adam updates only those rows:
///
///     const RowTable words(parameters, "words", 2000000, 100);
///     Adam adam(parameters, {.rate = 1e-3F}, {words.trained()});
struct RowTable {
  RowTable() = default;
  /// The weight NAME, initialized as Embedding's.
  RowTable(Parameters& p, const std::string& name, std::int64_t rows, std::int64_t width,
           const EmbeddingOptions& options = {});

  /// Rows in the order of `shape`, to [shape.., width]. Throws Error for an id that is not in the table.
  [[nodiscard]] Var operator()(std::span<const std::int32_t> ids, const Shape& shape) const;
  /// Bags of rows: bag p holds ids[ends[p - 1]] up to, but not, ids[ends[p]], and is the sum of their rows over the
  /// root of their number; zeros when it is empty. As many bags as `shape` has places; gives [shape.., width].
  [[nodiscard]] Var bags(std::span<const std::int32_t> ids, std::span<const std::int32_t> ends,
                         const Shape& shape) const;

  /// For Adam.
  [[nodiscard]] TrainedRows trained() const { return {name, gradient}; }

  std::string name{};                       // of the weight
  Tensor table{};                           // [rows, width]
  float scale = 1;                          // what the vectors are multiplied by
  std::shared_ptr<RowGradient> gradient{};  // since the last step
  Var anchor{};                             // what puts reading on the tape: the table itself is no Var
};

}  // namespace fovea
