// Matrices of numbers as coloured tables, for a reader who follows a computation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/terminal.hpp"

namespace fovea::view {

/// A matrix to show. Minus infinity stands for what may not be attended to.
struct NumberTable {
  std::string name;  // "Q"
  std::string id;    // by which a page's script finds the table; may be empty
  AttentionMatrix numbers;
  std::vector<std::string> row_labels;     // one per row, or none
  std::vector<std::string> column_labels;  // one per column, or none
  int decimals = 2;
  std::string note;      // what is left out, if anything is
  bool weights = false;  // colour by the value, 0 to 1; else warm and cool by sign, against the largest size
};

/// A number as the tables write it: the decimals asked for, a true minus sign, no minus zero.
[[nodiscard]] std::string shown_number(double value, int decimals);

/// The table in the terminal, each line ending in a newline; too many columns go on below.
[[nodiscard]] std::string draw_table(const NumberTable& table, const TerminalStyle& style);

/// The table as HTML, a <figure>; its colours are the classes of table_styles().
[[nodiscard]] std::string html_table(const NumberTable& table);

/// A symbol as HTML: W_Q with its Q below the line.
[[nodiscard]] std::string symbol_markup(std::string_view text);

/// CSS for html_table, light and dark.
[[nodiscard]] std::string table_styles();

}  // namespace fovea::view
