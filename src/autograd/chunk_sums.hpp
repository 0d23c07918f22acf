// Sums over rows whose chunks run on several threads.
#pragma once

#include <cstdint>

#include "fovea/var.hpp"

namespace fovea {

/// One [width] sum per chunk of rows, added up in the chunks' order at the end: the same bytes whichever thread did
/// which chunk, and however many threads there are.
///
///     ChunkSums sums(rows, width);
///     by_rows(rows, width, [&](std::int64_t first, std::int64_t count) { kernel(…, sums.of(first)); });
///     sums.add_to(bias.grad_target());
class ChunkSums {
 public:
  ChunkSums(std::int64_t rows, std::int64_t width);
  /// The sum of the chunk that begins at row `first`; zeros at first.
  [[nodiscard]] float* of(std::int64_t first) const;
  void add_to(const GradTarget& target) const;

 private:
  std::int64_t rows_per_chunk_;
  Tensor sums_;  // [chunks, width]
};

/// target (+)= the sum of the rows of x, [rows, width] packed.
void add_column_sums(const Tensor& x, std::int64_t rows, std::int64_t width, const GradTarget& target);

}  // namespace fovea
