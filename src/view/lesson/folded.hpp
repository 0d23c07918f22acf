// Wide matrices of a model folded to what matters, and sums written out term by term.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tensor.hpp"
#include "view/lesson/lesson.hpp"
#include "view/matrix.hpp"

namespace fovea::view {

/// Rows and columns of a tensor [rows, columns], or of the only sequence of [1, rows, columns].
[[nodiscard]] AttentionMatrix matrix_of(const Tensor& tensor);
/// Head `head` of [1, rows, heads * width], or the one of [1, heads, rows, columns] or [1, rows, columns].
[[nodiscard]] AttentionMatrix head_of(const Tensor& tensor, std::int64_t head, std::int64_t heads);

/// How much of a matrix is shown.
struct Fold {
  std::int64_t most_columns = 8, most_rows = 40;      // shown
  std::vector<std::int64_t> keep_rows{};              // shown in any case
  std::vector<std::int64_t> keep_columns{};           // likewise
  LessonLanguage language = LessonLanguage::english;  // of the note
};

/// The table of a matrix, folded to the rows and columns with the largest entries; its note says what is left out.
/// Without labels the columns are numbered from 1 where some are missing.
[[nodiscard]] NumberTable folded(NumberTable table, const Fold& fold = {});

/// A sum of products: "1.50000·0.25000 + …". Where there are more than `most` terms, the largest, and what the others
/// come to together.
[[nodiscard]] std::string sum_of_products(const std::vector<double>& a, const std::vector<double>& b,
                                          std::size_t most = 64, LessonLanguage language = LessonLanguage::english,
                                          int decimals = 5);

/// A row or a column as doubles.
[[nodiscard]] std::vector<double> row_of(const AttentionMatrix& m, std::int64_t row);
[[nodiscard]] std::vector<double> column_of(const AttentionMatrix& m, std::int64_t column);

}  // namespace fovea::view
