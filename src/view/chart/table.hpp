// A small table of numbers to draw as a chart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::view {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell for each column; an empty one has no value

  /// The index of a column by its name. Throws UsageError listing the names.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  /// Whether each cell of a column is a number or empty, and at least one is a number.
  [[nodiscard]] bool numeric(std::size_t column) const;
  /// A cell's number; NaN for an empty cell. Throws UsageError naming a cell that is not a number.
  [[nodiscard]] double number(std::size_t row, std::size_t column) const;
};

/// Reads CSV with a header line (RFC 4180: commas, quotes where a cell needs them), or JSON lines with one object each
/// as in log.jsonl, whose fields are the columns. Lines must be UTF-8. Throws FileError naming `name` and the line.
[[nodiscard]] Table read_table(const std::vector<std::string>& lines, const std::string& name);

}  // namespace fovea::view
