#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/picture/picture_view.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr double kFrame = 132;      // side of a picture
constexpr double kFrameGap = 14;    // between frames
constexpr double kFrameLabel = 22;  // below a frame
constexpr double kFrameMargin = 20;
constexpr int kFramesInARow = 6;
constexpr double kDarkest = 0.78;  // opacity over regions that a word did not attend to

// The largest weight of a row; its region is not darkened.
double most_of(const AttentionMatrix& weights, std::int64_t row) {
  double most = 1e-9;
  for (std::int64_t i = 0; i < weights.columns; ++i) most = std::max(most, static_cast<double>(weights.at(row, i)));
  return most;
}

}  // namespace

SvgPiece svg_filmstrip(const AttentionRecord& record, const AttentionMatrix& weights, const std::string& address) {
  const int columns = std::max(1, record.picture.columns);
  const int rows = std::max(1, record.picture.rows);
  const auto frames = static_cast<int>(record.target.size()) + 1;
  const int across = std::min(frames, kFramesInARow);
  const int down = (frames + across - 1) / across;
  const double heading = record.title.empty() ? 0 : 30;
  SvgPiece piece;
  piece.width = 2 * kFrameMargin + across * kFrame + (across - 1) * kFrameGap;
  piece.height = 2 * kFrameMargin + heading + down * (kFrame + kFrameLabel) + (down - 1) * kFrameGap;
  std::string& out = piece.body;
  if (!record.title.empty()) {
    out += fmt::format("<text class=\"h\" x=\"{0}\" y=\"{1}\">{2}</text>\n", coordinate(kFrameMargin),
                       coordinate(kFrameMargin + 12), escape_markup(record.title));
  }
  const double cell_x = kFrame / columns;
  const double cell_y = kFrame / rows;
  for (int frame = 0; frame < frames; ++frame) {
    const double x = kFrameMargin + frame % across * (kFrame + kFrameGap);
    const double y = kFrameMargin + heading + frame / across * (kFrame + kFrameLabel + kFrameGap);
    out += fmt::format("<g transform=\"translate({} {})\">\n<image href=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       coordinate(x), coordinate(y), address, coordinate(kFrame), coordinate(kFrame));
    const std::int64_t t = frame - 1;
    for (std::int64_t r = 0; t >= 0 && r < static_cast<std::int64_t>(rows) * columns; ++r) {
      const double weight = weights.at(t, r);
      const double dark = kDarkest * (1 - weight / most_of(weights, t));
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{}\"><title>{:.4f}</title></rect>",
          coordinate(static_cast<double>(r % columns) * cell_x), coordinate(static_cast<double>(r / columns) * cell_y),
          coordinate(cell_x + 0.05), coordinate(cell_y + 0.05), coordinate(dark), weight);
    }
    const std::string word = t < 0 ? "" : label(record.target[static_cast<std::size_t>(t)], 20);
    out += fmt::format("\n<text x=\"{}\" y=\"{}\" font-size=\"13\" text-anchor=\"middle\">{}</text>\n</g>\n",
                       coordinate(kFrame / 2), coordinate(kFrame + 16), escape_markup(word));
  }
  return piece;
}

}  // namespace fovea::view
