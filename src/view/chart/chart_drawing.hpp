// Axes, lines and bars of a chart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "view/chart/chart.hpp"

namespace fovea::view {

/// How large the drawing is, and the room around the plot.
struct ChartFrame {
  double width = 720, height = 340;
  double left = 56, right = 16, top = 14, bottom = 40;
};

constexpr int kChartColours = 6;  // the classes s0 … s5

/// The chart as groups and paths with the classes of svg_charts(); empty where no point can be drawn.
[[nodiscard]] std::string draw_chart(const Chart& chart, const ChartFrame& frame);

/// At most 600 points of a long series: the extremes of each short stretch, so that no spike is lost.
[[nodiscard]] std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points);

}  // namespace fovea::view
