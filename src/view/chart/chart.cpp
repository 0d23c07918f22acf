#include "view/chart/chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "view/chart/chart_drawing.hpp"
#include "view/svg/svg.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

// "Loss: training, validation over step", for screen readers.
std::string description(const Chart& chart) {
  std::string names;
  for (const Series& series : chart.series) names += (names.empty() ? "" : ", ") + series.name;
  return escape_markup(fmt::format("{}: {} over {}", chart.title, names, chart.x_label));
}

// The names of the series in their colours, in rows of the given width; adds their height to `height`.
std::string svg_legend(const Chart& chart, double left, double width, double& height) {
  constexpr double kRow = 20, kSwatch = 18, kGap = 22, kFont = 13;
  std::string out = "<g class=\"legend\">";
  double x = 0;
  double y = height + 14;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const double extent = kSwatch + 6 + text_extent(chart.series[i].name, kFont);
    if (x > 0 && x + extent > width) {
      x = 0;
      y += kRow;
    }
    out += fmt::format(
        "<rect class=\"dot s{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"4\" rx=\"2\"/><text x=\"{}\" "
        "y=\"{}\">{}</text>",
        i % kChartColours, coordinate(left + x), coordinate(y - 6), coordinate(kSwatch),
        coordinate(left + x + kSwatch + 6), coordinate(y), escape_markup(chart.series[i].name));
    x += extent + kGap;
  }
  height = y + 8;
  return out + "</g>\n";
}

SvgPiece svg_chart(const Chart& chart) {
  constexpr double kMargin = 16;
  const ChartFrame frame;
  SvgPiece piece;
  piece.width = frame.width + 2 * kMargin;
  double y = kMargin;
  if (!chart.title.empty()) {
    piece.body += fmt::format("<text class=\"h\" x=\"{}\" y=\"{}\">{}</text>\n", coordinate(kMargin),
                              coordinate(y + 14), escape_markup(chart.title));
    y += 24;
  }
  if (chart.series.size() > 1) piece.body += svg_legend(chart, kMargin, frame.width, y);
  const std::string drawing = draw_chart(chart, frame);
  if (drawing.empty()) {
    piece.body +=
        fmt::format("<text class=\"q\" x=\"{}\" y=\"{}\">no data</text>\n", coordinate(kMargin), coordinate(y + 14));
    piece.height = y + 30;
    return piece;
  }
  piece.body += fmt::format("<g transform=\"translate({} {})\"><title>{}</title>\n{}</g>\n", coordinate(kMargin),
                            coordinate(y), description(chart), drawing);
  piece.height = y + frame.height + kMargin;
  return piece;
}

std::string colours(const char* const (&list)[kChartColours]) {
  std::string out;
  for (int i = 0; i < kChartColours; ++i) {
    out += fmt::format(".line.s{0}{{stroke:{1}}}.dot.s{0}{{fill:{1}}}", i, list[i]);
  }
  return out;
}

}  // namespace

std::string svg_charts(const std::vector<Chart>& charts) {
  std::vector<SvgPiece> pieces;
  std::string titles;
  for (const Chart& chart : charts) {
    pieces.push_back(svg_chart(chart));
    titles += (titles.empty() ? "" : "; ") + chart.title;
  }
  SvgStyles styles;
  styles.both =
      "text{font-size:12px;fill-opacity:.75}.h{font-size:15px;font-weight:600;fill-opacity:1}.legend "
      "text{font-size:13px}\n"
      ".value{font-size:11px;font-variant-numeric:tabular-nums;fill-opacity:1}.grid path{stroke-width:1}\n"
      ".line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n";
  // The colours of web/styles/chart.css.
  styles.light =
      ".grid path{stroke:#dfe3e8}" + colours({"#2e7bb2", "#c8692c", "#3f8a63", "#7d62ab", "#b0475e", "#7b848d"}) + "\n";
  styles.dark =
      ".grid path{stroke:#2c323a}" + colours({"#55b5d6", "#e39a55", "#6cc095", "#b39bdc", "#e0839a", "#a3acb5"}) + "\n";
  return svg_document(pieces, titles, "Lines and bars drawn from measured figures.", styles);
}

}  // namespace fovea::view
