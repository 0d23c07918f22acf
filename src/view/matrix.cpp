#include "view/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "view/colour.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kMatrixLevels = 20;        // colours on each side of zero; one CSS class each
constexpr int kLongestMatrixLabel = 12;  // columns in the terminal

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

std::string class_of(double value, const NumberTable& table, double scale) {
  if (!std::isfinite(value)) return "never";
  if (table.weights) return fmt::format("w{}", std::lround(std::clamp(value, 0.0, 1.0) * kMatrixLevels));
  const long level = std::lround(std::clamp(value / scale, -1.0, 1.0) * kMatrixLevels);
  return level < 0 ? fmt::format("m{}", -level) : fmt::format("p{}", level);
}

std::string level_styles(const std::string& prefix, Theme theme) {
  std::string out;
  const auto rule = [&](const char* kind, int level, const Rgb& colour) {
    out += fmt::format("{}.{}{}{{background:{};color:{}}}", prefix, kind, level, colour.hex(), text_on(colour).hex());
  };
  for (int i = 0; i <= kMatrixLevels; ++i) {
    const double t = static_cast<double>(i) / kMatrixLevels;
    rule("w", i, weight_colour(t, theme));
    rule("p", i, signed_colour(t, theme));
    rule("m", i, signed_colour(-t, theme));
  }
  return out + "\n";
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

std::string html_table(const NumberTable& table) {
  const AttentionMatrix& m = table.numbers;
  const double scale = largest(m);
  std::string out = fmt::format(
      "<figure class=\"matrix\" data-matrix=\"{}\"><figcaption><b>{}</b> <small>{}</small></figcaption><div "
      "class=\"matrix-scroll\"><table>\n",
      escape_markup(table.id), symbol_markup(table.name),
      table.note.empty() ? fmt::format("{} × {}", m.rows, m.columns) : escape_markup(table.note));
  if (!table.column_labels.empty()) {
    out += "<tr>" + std::string(table.row_labels.empty() ? "" : "<td></td>");
    for (const std::string& one : table.column_labels) {
      out += fmt::format("<th scope=\"col\"><bdi>{}</bdi></th>", escape_markup(label(one, 24)));
    }
    out += "</tr>\n";
  }
  for (std::int64_t r = 0; r < m.rows; ++r) {
    out += "<tr>";
    if (!table.row_labels.empty()) {
      out += fmt::format("<th scope=\"row\"><bdi>{}</bdi></th>",
                         escape_markup(label(table.row_labels[static_cast<std::size_t>(r)], 24)));
    }
    for (std::int64_t c = 0; c < m.columns; ++c) {
      const double value = m.at(r, c);
      out +=
          fmt::format("<td class=\"{}\">{}</td>", class_of(value, table, scale), shown_number(value, table.decimals));
    }
    out += "</tr>\n";
  }
  return out + "</table></div></figure>\n";
}

std::string symbol_markup(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // W_Q: what stands behind an underscore, up to the next that is no letter, goes below the line.
    if (text[i] == '_' && i > 0 && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0) {
      std::size_t end = i + 1;
      while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
      out += "<sub>" + escape_markup(text.substr(i + 1, end - i - 1)) + "</sub>";
      i = end - 1;
    } else {
      // Whole characters of UTF-8 at a time.
      std::size_t end = i + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
      out += escape_markup(text.substr(i, end - i));
      i = end - 1;
    }
  }
  return out;
}

std::string table_styles() {
  return level_styles(".matrix ", Theme::light) + "@media(prefers-color-scheme:dark){\n" +
         level_styles(":root:not([data-theme=light]) .matrix ", Theme::dark) + "}\n" +
         level_styles(":root[data-theme=dark] .matrix ", Theme::dark);
}

}  // namespace fovea::view
