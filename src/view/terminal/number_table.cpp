#include "view/terminal/number_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/colour.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kLongestMatrixLabel = 12;  // columns

double largest(const AttentionMatrix& numbers) {
  double most = 0;
  for (const float value : numbers.values) {
    if (std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return most > 0 ? most : 1;
}

Rgb colour_of(double value, const NumberTable& table, double scale, Theme theme) {
  if (!std::isfinite(value)) return weight_colour(0, theme);
  return table.weights ? weight_colour(value, theme) : signed_colour(value / scale, theme);
}

}  // namespace

std::string shown_number(double value, int decimals) {
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text[0] == '-') {
    const bool zero = text.find_first_not_of("-0.") == std::string::npos;
    text = (zero ? "" : "−") + text.substr(1);
  }
  return text;
}

std::string draw_table(const NumberTable& table, const TerminalStyle& style) {
  const AttentionMatrix& m = table.numbers;
  const double scale = largest(m);
  int cell = 0;
  for (const float value : m.values) cell = std::max(cell, columns(shown_number(value, table.decimals)));
  for (const std::string& one : table.column_labels) cell = std::max(cell, std::min(columns(one), kLongestMatrixLabel));
  cell += 2;
  int margin = 2;
  for (const std::string& one : table.row_labels)
    margin = std::max(margin, std::min(columns(one), kLongestMatrixLabel) + 3);
  const std::int64_t per_line = std::max(1, (style.width - margin) / cell);
  std::string out;
  for (std::int64_t begin = 0; begin < m.columns; begin += per_line) {
    const std::int64_t end = std::min(m.columns, begin + per_line);
    if (!table.column_labels.empty()) {
      out += std::string(static_cast<std::size_t>(margin), ' ');
      for (std::int64_t c = begin; c < end; ++c) {
        out += pad_left(label(table.column_labels[static_cast<std::size_t>(c)], kLongestMatrixLabel), cell - 1) + " ";
      }
      out.pop_back();
      out += '\n';
    }
    for (std::int64_t r = 0; r < m.rows; ++r) {
      const std::string name =
          table.row_labels.empty() ? "" : label(table.row_labels[static_cast<std::size_t>(r)], kLongestMatrixLabel);
      out += pad_left(name, margin - 1) + " ";
      for (std::int64_t c = begin; c < end; ++c) {
        const double value = m.at(r, c);
        const std::string text = pad_left(shown_number(value, table.decimals), cell - 1) + " ";
        out += painted(text, colour_of(value, table, scale, style.theme), style);
      }
      while (out.back() == ' ') out.pop_back();
      out += '\n';
    }
  }
  if (!table.note.empty()) out += "  " + faint(table.note, style) + "\n";
  return out;
}

}  // namespace fovea::view
