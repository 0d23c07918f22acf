// A table of vectors of which a step reads few rows, and trains those alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace fovea {

/// An embedding whose gradient holds the rows that were read and no others: a step costs what it reads, however large
/// the table is. Adam is told of it and changes those rows alone:
///
///     const RowTable words(parameters, "words", 2000000, 100);
///     Adam adam(parameters, {.rate = 1e-3F}, {words.trained()});
struct RowTable {
  RowTable() = default;
  /// The weight NAME; like Embedding's, scaled by the root of the width unless `scaled` is false.
  RowTable(Parameters& p, const std::string& name, std::int64_t rows, std::int64_t width, bool scaled = true);

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
