// Matrices of a trained model as tables, reduced to their largest rows and columns.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/tensor.hpp"
#include "view/lesson/lesson.hpp"

namespace fovea::view {

/// Rows and columns of a tensor [rows, columns], or of the only sequence of [1, rows, columns].
[[nodiscard]] AttentionMatrix matrix_of(const Tensor& tensor);
/// Head `head` of [1, rows, heads * width], or the one of [1, heads, rows, columns] or [1, rows, columns].
[[nodiscard]] AttentionMatrix head_of(const Tensor& tensor, std::int64_t head, std::int64_t heads);
/// Row `row` as a matrix of one row.
[[nodiscard]] AttentionMatrix row_matrix(const AttentionMatrix& m, std::int64_t row);

/// A row or a column as doubles.
[[nodiscard]] std::vector<double> row_of(const AttentionMatrix& m, std::int64_t row);
[[nodiscard]] std::vector<double> column_of(const AttentionMatrix& m, std::int64_t column);
/// The column with the largest absolute value of a row.
[[nodiscard]] std::int64_t largest_column(const AttentionMatrix& m, std::int64_t row);

/// Limits of a folded table.
struct Fold {
  std::int64_t most_columns = 8, most_rows = 40;
  std::vector<std::int64_t> keep_rows{};     // kept whatever their size
  std::vector<std::int64_t> keep_columns{};  // likewise
};

/// The rows and columns with the largest entries, with a note on what is left out. Columns without labels are numbered
/// from 1 where some are left out.
[[nodiscard]] LessonTable fold_table(LessonTable table, const Fold& fold = {});

/// A folded table with the decimals of a trained model's numbers. With column labels up to 24 columns are kept.
[[nodiscard]] LessonTable model_table(Message name, AttentionMatrix numbers, std::vector<Message> rows,
                                      std::vector<Message> columns = {}, Fold fold = {});

}  // namespace fovea::view
