#include "text/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "fovea/error.hpp"
#include "text/lines.hpp"

namespace fovea::text {
namespace {

constexpr int kMostColumns = 1000;

std::string trimmed(std::string_view cell) {
  const std::size_t begin = std::min(cell.find_first_not_of(" \r"), cell.size());
  const std::size_t end = cell.find_last_not_of(" \r");
  return std::string(end == cell.npos ? "" : cell.substr(begin, end + 1 - begin));
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == line.npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace

ParallelText read_columns(const std::string& path, std::array<int, 2> columns) {
  const auto [source, target] = columns;
  const bool chosen = source != 0 || target != 0;
  if (chosen && (std::min(source, target) < 1 || std::max(source, target) > kMostColumns || source == target)) {
    throw UsageError("columns", fmt::format("{},{} given; two different ones from 1 to {} are needed", source, target,
                                            kMostColumns));
  }
  ParallelText out{path, path, {}, {}};
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    const auto cells = cells_of(line);
    const auto count = static_cast<int>(cells.size());
    const int needed = chosen ? std::max(source, target) : 2;
    if (count < needed) {
      throw FileError(fmt::format("{}: {} column{}, {} are needed, separated by tabs", reader.where(), count,
                                  count == 1 ? "" : "s", needed));
    }
    if (!chosen && count > 2) {
      throw FileError(fmt::format("{}: {} columns; choose two of them with columns, as in 1,2", reader.where(), count));
    }
    out.source.push_back(trimmed(cells[static_cast<std::size_t>(chosen ? source - 1 : 0)]));
    out.target.push_back(trimmed(cells[static_cast<std::size_t>(chosen ? target - 1 : 1)]));
  }
  check_has_text(out);
  return out;
}

}  // namespace fovea::text
