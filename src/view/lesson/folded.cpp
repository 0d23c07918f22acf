#include "view/lesson/folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fovea/error.hpp"
#include "view/lesson/speaker.hpp"

namespace fovea::view {
namespace {

std::string signed_factor(double value, int decimals) {
  const std::string text = shown_number(value, decimals);
  return value < 0 ? fmt::format("({})", text) : text;
}

// The `most` of `sizes` that are largest, and `keep`, in their order.
std::vector<std::int64_t> largest_of(const std::vector<double>& sizes, std::int64_t most,
                                     const std::vector<std::int64_t>& keep) {
  std::vector<std::int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (static_cast<std::int64_t>(sizes.size()) <= most) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return sizes[static_cast<std::size_t>(a)] > sizes[static_cast<std::size_t>(b)];
  });
  std::set<std::int64_t> chosen(keep.begin(), keep.end());
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(chosen.size()) >= most) break;
    chosen.insert(i);
  }
  return {chosen.begin(), chosen.end()};
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

NumberTable folded(NumberTable table, const Fold& fold) {
  const AttentionMatrix& m = table.numbers;
  std::vector<double> rows(static_cast<std::size_t>(m.rows), 0.0);
  std::vector<double> columns(static_cast<std::size_t>(m.columns), 0.0);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.columns; ++c) {
      const double size = std::isfinite(m.at(r, c)) ? std::abs(static_cast<double>(m.at(r, c))) : 0.0;
      rows[static_cast<std::size_t>(r)] = std::max(rows[static_cast<std::size_t>(r)], size);
      columns[static_cast<std::size_t>(c)] = std::max(columns[static_cast<std::size_t>(c)], size);
    }
  }
  const auto shown_rows = largest_of(rows, fold.most_rows, fold.keep_rows);
  const auto shown_columns = largest_of(columns, fold.most_columns, fold.keep_columns);
  const bool fewer_rows = static_cast<std::int64_t>(shown_rows.size()) < m.rows;
  const bool fewer_columns = static_cast<std::int64_t>(shown_columns.size()) < m.columns;
  if (!fewer_rows && !fewer_columns) return table;
  NumberTable out = table;
  out.numbers = {static_cast<std::int64_t>(shown_rows.size()), static_cast<std::int64_t>(shown_columns.size()), {}};
  for (const std::int64_t r : shown_rows) {
    for (const std::int64_t c : shown_columns) out.numbers.values.push_back(m.at(r, c));
  }
  const auto labels = [](const std::vector<std::string>& all, const std::vector<std::int64_t>& shown) {
    std::vector<std::string> some;
    for (const std::int64_t i : shown) {
      some.push_back(all.empty() ? fmt::format("#{}", i + 1) : all[static_cast<std::size_t>(i)]);
    }
    return some;
  };
  if (!table.row_labels.empty() || fewer_rows) out.row_labels = labels(table.row_labels, shown_rows);
  if (!table.column_labels.empty() || fewer_columns) out.column_labels = labels(table.column_labels, shown_columns);
  const Speaker say(fold.language);
  out.note = fewer_rows && fewer_columns
                 ? say.fill("{} × {}, shown: the {} rows and {} columns with the largest entries",
                            "{} × {}，只显示数值最大的 {} 行和 {} 列", m.rows, m.columns, shown_rows.size(),
                            shown_columns.size())
             : fewer_rows ? say.fill("{} × {}, shown: the {} rows with the largest entries",
                                     "{} × {}，只显示数值最大的 {} 行", m.rows, m.columns, shown_rows.size())
                          : say.fill("{} × {}, shown: the {} columns with the largest entries",
                                     "{} × {}，只显示数值最大的 {} 列", m.rows, m.columns, shown_columns.size());
  return out;
}

std::string sum_of_products(const std::vector<double>& a, const std::vector<double>& b, std::size_t most,
                            LessonLanguage language, int decimals) {
  if (a.size() != b.size()) throw ShapeError(fmt::format("sum: {} and {} factors", a.size(), b.size()));
  std::vector<double> sizes;
  for (std::size_t i = 0; i < a.size(); ++i) sizes.push_back(std::abs(a[i] * b[i]));
  const auto shown = largest_of(sizes, static_cast<std::int64_t>(most), {});
  std::string out;
  double told = 0;
  for (const std::int64_t at : shown) {
    const auto i = static_cast<std::size_t>(at);
    out += (out.empty() ? "" : " + ") + signed_factor(a[i], decimals) + "·" + signed_factor(b[i], decimals);
    told += a[i] * b[i];
  }
  if (shown.size() < a.size()) {
    const double all = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    out += Speaker(language).fill(" + {} (the {} smaller terms together)", " + {}（其余较小的 {} 项之和）",
                                  signed_factor(all - told, decimals), a.size() - shown.size());
  }
  return out;
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

}  // namespace fovea::view
