#include "view/chart/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

std::optional<double> parsed(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

constexpr std::size_t kMostColumns = 4096;  // columns are found by a linear search

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

// The cells of one line of CSV; a quoted cell may hold commas and doubled quotes.
std::vector<std::string> cells_of(const std::string& line, const std::string& where) {
  std::vector<std::string> cells;
  for (std::size_t at = 0;;) {
    if (at < line.size() && line[at] == '"') {
      std::string cell;
      for (++at;; ++at) {
        if (at >= line.size()) throw FileError(where + ": a quote is not closed");
        if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        cell += line[at];
      }
      if (++at < line.size() && line[at] != ',') throw FileError(where + ": text after the closing quote of a cell");
      cells.push_back(cell);
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cells.push_back(trimmed(std::string_view(line).substr(at, end - at)));
      at = end;
    }
    if (at >= line.size()) return cells;
    ++at;
  }
}

void add_object(Table& table, const std::string& line, const std::string& where) {
  const auto object = parse_ordered_json(line, where);
  if (!object.is_object()) throw FileError(where + ": not a JSON object");
  std::vector<std::string> row(table.columns.size());
  for (const auto& [key, value] : object.items()) {
    if (value.is_structured() || value.is_null()) continue;
    auto at =
        static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), key) - table.columns.begin());
    if (at == kMostColumns) throw FileError(fmt::format("{}: more than {} columns", where, kMostColumns));
    if (at == table.columns.size()) table.columns.push_back(key);
    if (at >= row.size()) row.resize(at + 1);
    row[at] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  table.rows.push_back(std::move(row));
}

}  // namespace

std::size_t Table::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) {
    throw UsageError(fmt::format("no column \"{}\"; the columns are {}", clean(std::string(name)),
                                 clean(fmt::format("{}", fmt::join(columns, ", ")))));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

bool Table::numeric(std::size_t column) const {
  bool any = false;
  for (const auto& row : rows) {
    if (row[column].empty()) continue;
    if (!parsed(row[column])) return false;
    any = true;
  }
  return any;
}

double Table::number(std::size_t row, std::size_t column) const {
  const std::string& cell = rows[row][column];
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto value = parsed(cell);
  if (!value) {
    throw UsageError(
        fmt::format("column \"{}\": row {} is \"{}\", not a number", clean(columns[column]), row + 1, clean(cell)));
  }
  return *value;
}

Table read_table(const std::vector<std::string>& lines, const std::string& name) {
  Table table;
  bool json = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = fmt::format("{}:{}", name, i + 1);
    const std::size_t begin = lines[i].find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    if (table.columns.empty() && table.rows.empty()) json = lines[i][begin] == '{';
    if (json) {
      add_object(table, lines[i], where);
    } else if (table.columns.empty()) {
      table.columns = cells_of(lines[i], where);
    } else {
      table.rows.push_back(cells_of(lines[i], where));
      if (table.rows.back().size() != table.columns.size()) {
        throw FileError(
            fmt::format("{}: {} cells, but the header has {}", where, table.rows.back().size(), table.columns.size()));
      }
    }
  }
  for (auto& row : table.rows) row.resize(table.columns.size());
  if (table.rows.empty()) throw FileError(name + ": has no rows");
  return table;
}

}  // namespace fovea::view
