// The confusion matrix as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/classification/classification.hpp"
#include "view/colour.hpp"
#include "view/svg/svg.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kShades = 20;  // shades, one CSS class each
constexpr double kConfusionMargin = 20;
constexpr double kTurn = 0.7071;  // labels along the top are slanted by 45 degrees
constexpr std::size_t kMostLabels = 300;

std::string shades(Theme theme) {
  std::string out;
  for (int i = 0; i <= kShades; ++i) {
    const Rgb colour = weight_colour(static_cast<double>(i) / kShades, theme);
    out += fmt::format(".w{0}{{fill:{1}}}text.n{0}{{fill:{2}}}", i, colour.hex(), text_on(colour).hex());
  }
  return out;
}

struct Layout {
  double cell, font, x0, y0, side;  // size of a cell, of labels, the first cell, width and height of all cells
  bool counts;                      // cells are large enough for numbers
};

Layout layout_of(const std::vector<std::string>& labels, std::int64_t largest) {
  Layout out{};
  const auto n = static_cast<double>(labels.size());
  out.cell = std::clamp(720.0 / n, 9.0, 64.0);
  out.font = std::clamp(out.cell * 0.4, 7.0, 14.0);
  out.counts = text_extent(std::to_string(largest), out.font) <= out.cell - 2 && out.cell >= 16;
  double widest = 0;
  for (const std::string& one : labels) widest = std::max(widest, text_extent(one, out.font));
  out.x0 = kConfusionMargin + 22 + widest + 10;
  out.y0 = kConfusionMargin + 30 + 26 + widest * kTurn + out.font;
  out.side = out.cell * n;
  return out;
}

std::string axis(const std::vector<std::string>& labels, const Layout& at) {
  std::string out = fmt::format("<g font-size=\"{}\">\n", coordinate(at.font));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double middle = at.cell * (static_cast<double>(i) + 0.5);
    const std::string text = escape_markup(labels[i]);
    out += fmt::format("<text transform=\"translate({} {}) rotate(-45)\">{}</text>\n",
                       coordinate(at.x0 + middle + at.font * 0.3), coordinate(at.y0 - 6), text);
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", coordinate(at.x0 - 8),
                       coordinate(at.y0 + middle + at.font * 0.36), text);
  }
  out += "</g>\n";
  out += fmt::format("<text class=\"a\" x=\"{}\" y=\"{}\">hypothesis</text>\n", coordinate(at.x0 + at.side / 2),
                     coordinate(kConfusionMargin + 40));
  return out + fmt::format("<text class=\"a\" transform=\"translate({} {}) rotate(-90)\">reference</text>\n",
                           coordinate(kConfusionMargin + 12), coordinate(at.y0 + at.side / 2));
}

std::string cells(const ClassificationScores& result, const Layout& at) {
  std::string out = fmt::format(
      "<rect class=\"w0\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n<g class=\"c\" font-size=\"{}\">\n",
      coordinate(at.x0), coordinate(at.y0), coordinate(at.side), coordinate(at.side), coordinate(at.font));
  for (const LabelPair& one : result.confusion) {
    const LabelFigures& reference = result.labels[one.reference];
    const double share = static_cast<double>(one.count) / static_cast<double>(reference.support);
    const long shade = std::lround(share * kShades);
    const double x = at.x0 + at.cell * static_cast<double>(one.hypothesis);
    const double y = at.y0 + at.cell * static_cast<double>(one.reference);
    out += fmt::format(
        "<g><title>reference {}, hypothesis {}: {} of {} lines ({:.1f}%)</title><rect class=\"w{}\" x=\"{}\" y=\"{}\" "
        "width=\"{}\" height=\"{}\"/>",
        escape_markup(reference.label), escape_markup(result.labels[one.hypothesis].label), one.count,
        reference.support, 100 * share, shade, coordinate(x), coordinate(y), coordinate(at.cell), coordinate(at.cell));
    if (at.counts) {
      out += fmt::format("<text class=\"n{}\" x=\"{}\" y=\"{}\">{}</text>", shade, coordinate(x + at.cell / 2),
                         coordinate(y + at.cell / 2 + at.font * 0.36), one.count);
    }
    out += "</g>\n";
  }
  return out + "</g>\n";
}

std::string legend(const Layout& at, double y) {
  std::string out = "<g class=\"l\">";
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">0%</text>", coordinate(at.x0 - 6), coordinate(y + 9));
  constexpr double kStep = 5;
  for (int i = 0; i <= kShades; ++i) {
    out += fmt::format("<rect class=\"w{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\"/>", i,
                       coordinate(at.x0 + i * kStep), coordinate(y), coordinate(kStep));
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\">100% of the reference label's lines</text></g>\n",
                           coordinate(at.x0 + (kShades + 1) * kStep + 6), coordinate(y + 9));
}

}  // namespace

std::string svg_confusion(const ClassificationScores& result) {
  if (result.labels.size() > kMostLabels) {
    throw UsageError(fmt::format("confusion matrix: a picture has at most {} labels, these are {}", kMostLabels,
                                 result.labels.size()));
  }
  std::vector<std::string> labels;
  std::int64_t largest = 0;
  for (const LabelFigures& one : result.labels) labels.push_back(label(one.label, 24));
  for (const LabelPair& one : result.confusion) largest = std::max(largest, one.count);
  const Layout at = layout_of(labels, largest);
  const std::string heading =
      fmt::format("Accuracy {:.2f}% ({} of {} lines)", result.accuracy, result.right, result.lines);
  SvgPiece piece;
  const double overhang = std::max(0.0, text_extent(labels.back(), at.font) * kTurn - at.cell / 2);
  piece.width = std::max({at.x0 + at.side + overhang, at.x0 + 360, kConfusionMargin + text_extent(heading, 15)}) +
                kConfusionMargin;
  piece.height = at.y0 + at.side + 34 + kConfusionMargin;
  piece.body = fmt::format("<text class=\"h\" x=\"{}\" y=\"{}\">{}</text>\n", coordinate(kConfusionMargin),
                           coordinate(kConfusionMargin + 12), escape_markup(heading)) +
               axis(labels, at) + cells(result, at) + legend(at, at.y0 + at.side + 18);
  return svg_document({piece}, heading, "Lines by the label of the reference (rows) and of the hypothesis (columns).",
                      {.both = ".h{font-size:15px;font-weight:600}.a{font-size:13px;fill-opacity:.7;text-anchor:middle}"
                               ".l{font-size:11px}.l text{fill-opacity:.7}\n"
                               ".c text{text-anchor:middle;font-variant-numeric:tabular-nums}\n",
                       .light = shades(Theme::light),
                       .dark = shades(Theme::dark)});
}

}  // namespace fovea::view
