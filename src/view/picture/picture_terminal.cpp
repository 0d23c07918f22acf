#include <algorithm>

#include "view/picture/picture_view.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kCellColumns = 2;  // a cell of a terminal is half as wide as it is high
constexpr int kBetween = 3;

std::string region_cell(double share, const TerminalStyle& style) {
  if (style.colour != TerminalColour::none) return painted("  ", weight_colour(share, style.theme), style);
  return share < 0.1 ? " ·" : share < 0.3 ? "░░" : share < 0.55 ? "▒▒" : share < 0.8 ? "▓▓" : "██";
}

}  // namespace

std::string draw_picture_grids(const AttentionRecord& record, const AttentionMatrix& weights,
                               const TerminalStyle& style) {
  const int rows = record.picture.rows;
  const int columns = record.picture.columns;
  const int width = std::max(columns * kCellColumns, 8);
  const auto across = static_cast<std::size_t>(std::max(1, (style.width + kBetween) / (width + kBetween)));
  std::string out;
  for (std::size_t first = 0; first < record.target.size(); first += across) {
    const std::size_t end = std::min(first + across, record.target.size());
    std::string line;
    for (std::size_t t = first; t < end; ++t) {
      line += bold(pad_right(fit(label(record.target[t], width), width), width), style);
      if (t + 1 < end) line += std::string(kBetween, ' ');
    }
    out += line + "\n";
    for (int y = 0; y < rows; ++y) {
      line.clear();
      for (std::size_t t = first; t < end; ++t) {
        const auto row = static_cast<std::int64_t>(t);
        float most = 1e-9F;
        for (std::int64_t r = 0; r < weights.columns; ++r) most = std::max(most, weights.at(row, r));
        for (int x = 0; x < columns; ++x) {
          line += region_cell(weights.at(row, static_cast<std::int64_t>(y) * columns + x) / most, style);
        }
        line +=
            std::string(static_cast<std::size_t>(width - columns * kCellColumns + (t + 1 < end ? kBetween : 0)), ' ');
      }
      out += line + "\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace fovea::view
