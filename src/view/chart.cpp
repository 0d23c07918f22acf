#include "view/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "view/page.hpp"
#include "view/svg.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr double kWidth = 380, kHeight = 240;
constexpr double kLeft = 44, kRight = 10, kTop = 10, kBottom = 36;  // web/chart.js knows them too
constexpr std::size_t kMostPoints = 600;
constexpr int kColours = 6;  // of web/chart.css

using Point = std::pair<double, double>;

// The extremes of each stretch, in order, so that no spike is lost.
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

bool drawable(const Chart& chart, const Point& p) {
  return std::isfinite(p.first) && std::isfinite(p.second) && (!chart.logarithmic || p.second > 0);
}

// From values to places on the drawing.
struct Axes {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool logarithmic = false;
  [[nodiscard]] double x(double value) const {
    return kLeft + (value - x_low) / (x_high - x_low) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    const double v = logarithmic ? std::log10(value) : value;
    return kHeight - kBottom - (v - y_low) / (y_high - y_low) * (kHeight - kTop - kBottom);
  }
};

}  // namespace

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low)) {
    const double around = std::max(std::abs(low), 1e-6) * 0.5;
    low -= around;
    high += around;
  }
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3 ? 2 : rough / power < 7 ? 5 : 10);
  std::vector<double> out;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last && out.size() < 50; ++i) out.push_back(i * step);
  return out;
}

// Values for a logarithmic axis: powers of ten, and for a short axis 2 and 5 times them.
static std::vector<double> log_ticks(double low, double high) {
  std::vector<double> out;
  const double first = std::floor(std::log10(low) + 1e-9);
  const double last = std::ceil(std::log10(high) - 1e-9);
  const bool fine = std::log10(high / low) < 2.2;
  const double stride = std::max(1.0, std::ceil((last - first) / 7));
  for (double e = first; e <= last; e += stride) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit == 1 || (fine && e < last)) out.push_back(digit * std::pow(10.0, e));
    }
  }
  while (out.size() > 2 && out[1] <= low * (1 + 1e-9)) out.erase(out.begin());
  while (out.size() > 2 && out[out.size() - 2] >= high * (1 - 1e-9)) out.pop_back();
  if (out.back() < high) out.push_back(high);
  if (out.size() == 1) out.push_back(out[0] * 10);
  return out;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e15) return fmt::format("{:.3g}", value);
  if (size >= 1e3 && size < 1e4) {
    return std::fmod(size, 100) == 0 ? fmt::format("{:g}k", value / 1e3) : fmt::format("{:.4g}", value);
  }
  for (const auto& [unit, name] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (size >= unit) return fmt::format("{:.4g}{}", value / unit, name);
  }
  if (size < 1e-12) return "0";
  return fmt::format("{:.4g}", value);
}

std::string html_chart(const Chart& chart) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double x_low = kInfinity, x_high = -kInfinity, y_low = kInfinity, y_high = -kInfinity;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) {
      if (!drawable(chart, p)) continue;
      x_low = std::min(x_low, p.first);
      x_high = std::max(x_high, p.first);
      y_low = std::min(y_low, p.second);
      y_high = std::max(y_high, p.second);
    }
  }
  std::string out = fmt::format("<figure class=\"chart\"><figcaption>{}</figcaption>\n", escape_markup(chart.title));
  if (!(x_low <= x_high)) return out + "<p class=\"lead\">no figures yet</p></figure>\n";

  Axes axes;
  axes.logarithmic = chart.logarithmic;
  if (chart.from_zero && !chart.logarithmic) y_low = std::min(y_low, 0.0);
  const std::vector<double> across = ticks(x_low, x_high, 5);
  const std::vector<double> up = chart.logarithmic ? log_ticks(y_low, y_high) : ticks(y_low, y_high, 5);
  axes.x_low = x_low;
  axes.x_high = x_high > x_low ? x_high : x_low + 1;
  axes.y_low = chart.logarithmic ? std::log10(up.front()) : up.front();
  axes.y_high = chart.logarithmic ? std::log10(up.back()) : up.back();

  std::string names;
  for (const Series& series : chart.series) names += (names.empty() ? "" : ", ") + series.name;
  out +=
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\"><title>{}: {} over {}</title>\n", coordinate(kWidth),
                  coordinate(kHeight), escape_markup(chart.title), escape_markup(names), escape_markup(chart.x_label));
  out += "<g class=\"grid\">";
  for (const double value : up) {
    const double y = axes.y(value);
    out += fmt::format("<path d=\"M{} {}H{}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                       coordinate(kLeft), coordinate(y), coordinate(kWidth - kRight), coordinate(kLeft - 8),
                       coordinate(y + 4), short_number(value));
  }
  for (const double value : across) {
    if (value < axes.x_low - 1e-9 || value > axes.x_high + 1e-9) continue;
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", coordinate(axes.x(value)),
                       coordinate(kHeight - kBottom + 16), short_number(value));
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
                     coordinate((kLeft + kWidth - kRight) / 2), coordinate(kHeight - 3), escape_markup(chart.x_label));

  std::string data = "[";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::vector<Point> points = thinned(chart.series[i].points);
    std::string path;
    std::string dots;  // points on their own
    std::string places;
    for (std::size_t at = 0; at < points.size(); ++at) {
      const Point& p = points[at];
      if (!drawable(chart, p)) continue;
      const bool joined = at > 0 && drawable(chart, points[at - 1]);
      const bool goes_on = at + 1 < points.size() && drawable(chart, points[at + 1]);
      const std::string x = coordinate(axes.x(p.first));
      const std::string y = coordinate(axes.y(p.second));
      path += fmt::format("{}{} {}", joined ? "L" : "M", x, y);
      if (!joined && !goes_on) {
        dots += fmt::format("<circle class=\"dot s{}\" cx=\"{}\" cy=\"{}\" r=\"3\"/>\n", i % kColours, x, y);
      }
      places += fmt::format("{}[{},{},\"{}\",\"{}\"]", places.empty() ? "" : ",", x, y, short_number(p.first),
                            short_number(p.second));
    }
    out += fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n{}", i % kColours, path, dots);
    data += (i > 0 ? ",[" : "[") + places + "]";
  }
  out += "<g class=\"cursor\"></g></svg>\n";
  if (chart.series.size() > 1) {
    out += "<ul class=\"legend\">";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      out += fmt::format("<li class=\"s{}\">{}</li>", i % kColours, escape_markup(chart.series[i].name));
    }
    out += "</ul>\n";
  }
  return out + "<script type=\"application/json\">" + escape_script_json(data + "]") + "</script></figure>\n";
}

}  // namespace fovea::view
