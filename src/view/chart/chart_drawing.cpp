#include "view/chart/chart_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "view/svg/svg.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr std::size_t kMostPoints = 600;
constexpr std::size_t kFewPoints = 24;  // lines of at most so many mark each point
constexpr std::size_t kFewTicks = 12;   // labels that fit below an axis
constexpr double kLeastShare = 0.2;     // of the largest value: a shorter y axis would magnify noise

using Point = std::pair<double, double>;

// Beyond this, the range of an axis would be infinite.
bool small_enough(double value) {
  return std::abs(value) < 1e300;
}

bool drawable(const Chart& chart, const Point& p) {
  return small_enough(p.first) && small_enough(p.second) && (!chart.logarithmic || p.second > 0) &&
         (!chart.logarithmic_x || p.first > 0);
}

// One axis: from values to places.
struct Axis {
  double low = 0, high = 1;  // of the value, or of its logarithm
  double begin = 0, end = 1;
  bool logarithmic = false;
  [[nodiscard]] double of(double value) const { return logarithmic ? std::log10(value) : value; }
  [[nodiscard]] double place(double value) const { return begin + (of(value) - low) / (high - low) * (end - begin); }
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // To at least `least`, around the middle.
  void widen(double least) {
    const double missing = least - (high - low);
    if (missing <= 0) return;
    low -= missing / 2;
    high += missing / 2;
  }
};

struct Plot {
  const Chart& chart;
  const ChartFrame& frame;
  Axis x, y;
  std::vector<double> across, up;
};

Plot plot_of(const Chart& chart, const ChartFrame& frame, Range x, Range y) {
  Plot plot{chart, frame, {}, {}, {}, {}};
  const bool bars = !chart.names.empty();
  if ((chart.from_zero || bars) && !chart.logarithmic) y.add(0);
  if (!chart.logarithmic) y.widen(kLeastShare * std::max(std::abs(y.low), std::abs(y.high)));
  if (bars) x = {-0.5, static_cast<double>(chart.names.size()) - 0.5};
  plot.x.logarithmic = chart.logarithmic_x && !bars;
  plot.y.logarithmic = chart.logarithmic;
  if (!bars) plot.across = plot.x.logarithmic ? log_ticks(x.low, x.high) : ticks(x.low, x.high, 5);
  // On a logarithmic axis, label few points by their own values, often powers of two.
  if (plot.x.logarithmic && !chart.series.empty() && chart.series[0].points.size() <= kFewTicks) {
    plot.across.clear();
    for (const Point& p : chart.series[0].points) plot.across.push_back(p.first);
  }
  plot.up = chart.logarithmic ? log_ticks(y.low, y.high) : ticks(y.low, y.high, 5);
  plot.x.low = plot.x.of(x.low);
  plot.x.high = x.high > x.low ? plot.x.of(x.high) : plot.x.low + 1;
  plot.x.begin = frame.left;
  plot.x.end = frame.width - frame.right;
  plot.y.low = plot.y.of(plot.up.front());
  plot.y.high = plot.y.of(plot.up.back());
  plot.y.begin = frame.height - frame.bottom;
  plot.y.end = frame.top;
  return plot;
}

std::string grid(const Plot& plot) {
  const ChartFrame& f = plot.frame;
  std::string out = "<g class=\"grid\">";
  for (const double value : plot.up) {
    const double y = plot.y.place(value);
    out += fmt::format("<path d=\"M{} {}H{}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                       coordinate(f.left), coordinate(y), coordinate(f.width - f.right), coordinate(f.left - 8),
                       coordinate(y + 4), short_number(value));
  }
  const double below = f.height - f.bottom + 16;
  const auto mark = [&](double x, const std::string& text) {
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", coordinate(x), coordinate(below),
                       escape_markup(text));
  };
  for (const double value : plot.across) {
    const double at = plot.x.of(value);
    if (at < plot.x.low - 1e-9 || at > plot.x.high + 1e-9) continue;
    mark(plot.x.place(value), short_number(value));
  }
  for (std::size_t i = 0; i < plot.chart.names.size(); ++i) {
    mark(plot.x.place(static_cast<double>(i)), plot.chart.names[i]);
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
                           coordinate((f.left + f.width - f.right) / 2), coordinate(f.height - 3),
                           escape_markup(plot.chart.x_label));
}

std::string line(const Plot& plot, std::size_t number) {
  const Chart& chart = plot.chart;
  const std::vector<Point> points = thinned(chart.series[number].points);
  const std::size_t colour = number % kChartColours;
  const bool mark_all = points.size() <= kFewPoints;
  std::string path;
  std::string dots;
  for (std::size_t at = 0; at < points.size(); ++at) {
    const Point& p = points[at];
    if (!drawable(chart, p)) continue;
    const bool joined = at > 0 && drawable(chart, points[at - 1]);
    const bool goes_on = at + 1 < points.size() && drawable(chart, points[at + 1]);
    const std::string x = coordinate(plot.x.place(p.first));
    const std::string y = coordinate(plot.y.place(p.second));
    path += fmt::format("{}{} {}", joined ? "L" : "M", x, y);
    if (mark_all || (!joined && !goes_on)) {  // a single point has no line
      dots += fmt::format("<circle class=\"dot s{}\" cx=\"{}\" cy=\"{}\" r=\"3\"><title>{}: {}</title></circle>\n",
                          colour, x, y, short_number(p.first), short_number(p.second));
    }
  }
  return fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n{}", colour, path, dots);
}

std::string bars(const Plot& plot, std::size_t number) {
  const Chart& chart = plot.chart;
  const double group = (plot.x.end - plot.x.begin) / static_cast<double>(chart.names.size());
  const double width = group * 0.76 / static_cast<double>(chart.series.size());
  const double floor = plot.y.place(std::max(plot.up.front(), chart.logarithmic ? plot.up.front() : 0.0));
  std::string out;
  for (const Point& p : chart.series[number].points) {
    if (!drawable(chart, p)) continue;
    const double left = plot.x.place(p.first) - group * 0.38 + width * static_cast<double>(number);
    const double y = plot.y.place(p.second);
    const double top = std::min(y, floor);
    const std::string middle = coordinate(left + width / 2);
    const auto name = static_cast<std::size_t>(p.first);
    const std::string title =
        escape_markup(fmt::format("{}, {}: {}", name < chart.names.size() ? chart.names[name] : "",
                                  chart.series[number].name, short_number(p.second)));
    out += fmt::format(
        "<rect class=\"dot s{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"1.5\"><title>{}</title></rect>\n",
        number % kChartColours, coordinate(left + 1), coordinate(top), coordinate(std::max(1.0, width - 2)),
        coordinate(std::abs(y - floor)), title);
    if (width >= 22) {
      out += fmt::format("<text class=\"value\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", middle,
                         coordinate(top - 4), short_number(p.second));
    }
  }
  return out;
}

}  // namespace

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<Point> out;
  const std::size_t stretches = kMostPoints / 2;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(points.size() * i / stretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(points.size() * (i + 1) / stretches);
    const auto lower = [](const Point& a, const Point& b) { return a.second < b.second; };
    auto low = std::min_element(begin, end, lower);
    auto high = std::max_element(begin, end, lower);
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  return out;
}

std::string draw_chart(const Chart& chart, const ChartFrame& frame) {
  Range x;
  Range y;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) {
      if (!drawable(chart, p)) continue;
      x.add(p.first);
      y.add(p.second);
    }
  }
  if (!(x.low <= x.high)) return {};
  const Plot plot = plot_of(chart, frame, x, y);
  std::string markup = grid(plot);
  for (std::size_t i = 0; i < chart.series.size(); ++i) markup += chart.names.empty() ? line(plot, i) : bars(plot, i);
  return markup;
}

}  // namespace fovea::view
