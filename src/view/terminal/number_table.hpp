// Matrices of numbers as coloured tables in a terminal.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::view {

/// A matrix to show. Minus infinity marks a hidden key.
struct NumberTable {
  std::string name{};  // "Q"
  AttentionMatrix numbers{};
  std::vector<std::string> row_labels{};     // one per row, or none
  std::vector<std::string> column_labels{};  // one per column, or none
  int decimals = 2;
  std::string note{};    // what is left out; empty: nothing
  bool weights = false;  // colour by the value, 0 to 1; otherwise warm and cool by sign, against the largest size
};

/// A number with `decimals` decimals, a true minus sign and no minus zero.
[[nodiscard]] std::string shown_number(double value, int decimals);

/// The table in the terminal, each line ending in a newline. Columns beyond the terminal's width continue below.
[[nodiscard]] std::string draw_table(const NumberTable& table, const TerminalStyle& style);

}  // namespace fovea::view
