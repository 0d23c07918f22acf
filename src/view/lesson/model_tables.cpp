#include "view/lesson/model_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "view/lesson/equations.hpp"

namespace fovea::view {
namespace {

// The largest absolute value of each row and of each column; infinite entries count as 0.
struct Sizes {
  std::vector<double> rows, columns;
};

Sizes sizes_of(const AttentionMatrix& m) {
  Sizes sizes{std::vector<double>(static_cast<std::size_t>(m.rows)),
              std::vector<double>(static_cast<std::size_t>(m.columns))};
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.columns; ++c) {
      const double size = std::isfinite(m.at(r, c)) ? std::abs(static_cast<double>(m.at(r, c))) : 0.0;
      double& row = sizes.rows[static_cast<std::size_t>(r)];
      double& column = sizes.columns[static_cast<std::size_t>(c)];
      row = std::max(row, size);
      column = std::max(column, size);
    }
  }
  return sizes;
}

std::vector<Message> chosen_labels(const std::vector<Message>& all, const std::vector<std::int64_t>& chosen) {
  std::vector<Message> out;
  for (const std::int64_t i : chosen) {
    out.push_back(all.empty() ? Message(fmt::format("#{}", i + 1)) : all[static_cast<std::size_t>(i)]);
  }
  return out;
}

}  // namespace

AttentionMatrix matrix_of(const Tensor& tensor) {
  const Tensor t = tensor.contiguous();
  AttentionMatrix m{t.dim(-2), t.dim(-1), {}};
  m.values.assign(t.data(), t.data() + m.rows * m.columns);
  return m;
}

AttentionMatrix head_of(const Tensor& tensor, std::int64_t head, std::int64_t heads) {
  if (tensor.rank() == 4) return matrix_of(tensor.select(0, 0).select(0, head));
  const std::int64_t width = tensor.dim(-1) / heads;
  return matrix_of(tensor.slice(-1, head * width, (head + 1) * width));
}

AttentionMatrix row_matrix(const AttentionMatrix& m, std::int64_t row) {
  const auto begin = m.values.begin() + row * m.columns;
  return {1, m.columns, {begin, begin + m.columns}};
}

std::vector<double> row_of(const AttentionMatrix& m, std::int64_t row) {
  const auto begin = m.values.begin() + row * m.columns;
  return {begin, begin + m.columns};
}

std::vector<double> column_of(const AttentionMatrix& m, std::int64_t column) {
  std::vector<double> out;
  for (std::int64_t r = 0; r < m.rows; ++r) out.push_back(m.at(r, column));
  return out;
}

std::int64_t largest_column(const AttentionMatrix& m, std::int64_t row) {
  std::int64_t largest = 0;
  for (std::int64_t c = 1; c < m.columns; ++c) {
    if (std::abs(m.at(row, c)) > std::abs(m.at(row, largest))) largest = c;
  }
  return largest;
}

LessonTable fold_table(LessonTable table, const Fold& fold) {
  const AttentionMatrix& m = table.numbers;
  const Sizes sizes = sizes_of(m);
  const auto rows = largest_of(sizes.rows, fold.most_rows, fold.keep_rows);
  const auto columns = largest_of(sizes.columns, fold.most_columns, fold.keep_columns);
  const bool fewer_rows = static_cast<std::int64_t>(rows.size()) < m.rows;
  const bool fewer_columns = static_cast<std::int64_t>(columns.size()) < m.columns;
  if (!fewer_rows && !fewer_columns) return table;
  AttentionMatrix numbers{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size()), {}};
  for (const std::int64_t r : rows) {
    for (const std::int64_t c : columns) numbers.values.push_back(m.at(r, c));
  }
  if (!table.rows.empty() || fewer_rows) table.rows = chosen_labels(table.rows, rows);
  if (!table.columns.empty() || fewer_columns) table.columns = chosen_labels(table.columns, columns);
  table.note = Message::of(
      fewer_rows && fewer_columns ? "folded.both"
      : fewer_rows                ? "folded.rows"
                                  : "folded.columns",
      {{"rows", m.rows}, {"columns", m.columns}, {"shown_rows", rows.size()}, {"shown_columns", columns.size()}});
  table.numbers = std::move(numbers);
  return table;
}

LessonTable model_table(Message name, AttentionMatrix numbers, std::vector<Message> rows, std::vector<Message> columns,
                        Fold fold) {
  if (!columns.empty()) fold.most_columns = 24;
  LessonTable table{std::move(name), {}, std::move(numbers), std::move(rows), std::move(columns)};
  table.decimals = kModelDecimals;
  return fold_table(std::move(table), fold);
}

}  // namespace fovea::view
