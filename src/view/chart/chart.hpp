// Charts as SVG: lines of numbers over numbers, bars of numbers over names.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fovea::view {

/// One line of a chart, or one colour of its bars. A value that is not finite interrupts the line.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending; for bars, the index of the name
};

struct Chart {
  std::string title;
  std::string x_label = "step";
  std::vector<Series> series;
  bool from_zero = false;               // the y axis includes 0; otherwise it covers at least a fifth of the values
  bool logarithmic = false;             // the y axis; values that are not positive interrupt the line
  bool logarithmic_x = false;           // the x axis, likewise
  std::vector<std::string> names = {};  // bars, one group for each name; empty: lines
};

/// Round values for an axis from `low` to `high`: steps of 1, 2 or 5 times a power of ten, about `count` of them, the
/// first not above `low` and the last not below `high`.
[[nodiscard]] std::vector<double> ticks(double low, double high, int count);

/// The same for a logarithmic axis, 0 < low <= high: powers of ten and, for a short axis, 2 and 5 times them.
[[nodiscard]] std::vector<double> log_ticks(double low, double high);

/// A number for an axis: 0.25, 1.5k, 20k, 3M.
[[nodiscard]] std::string short_number(double value);

/// The charts below each other as a standalone picture, light or dark by the reader's preference.
[[nodiscard]] std::string svg_charts(const std::vector<Chart>& charts);

}  // namespace fovea::view
