// The part of a chart that a page and a standalone picture share: axes, lines and bars.
#pragma once

#include <string>

#include "view/chart/chart.hpp"

namespace fovea::view {

/// How large the drawing is, and the room around the plot.
struct ChartFrame {
  double width = 380, height = 240;
  double left = 44, right = 10, top = 10, bottom = 36;
  bool values = false;  // write the value above each bar and mark the points of short lines
};

constexpr int kChartColours = 6;  // the classes s0 … s5

struct ChartDrawing {
  bool empty = false;  // nothing to draw
  std::string markup;  // groups and paths with the classes of web/styles/chart.css
  std::string places;  // JSON: for each series its points as [x, y, "x", "y"], for a readout
};

[[nodiscard]] ChartDrawing draw_chart(const Chart& chart, const ChartFrame& frame);

}  // namespace fovea::view
