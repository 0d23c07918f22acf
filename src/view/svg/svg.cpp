#include "view/svg/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "view/colour.hpp"
#include "view/text.hpp"
#include "view/token_names.hpp"

namespace fovea::view {
namespace {

constexpr int kLevels = 40;               // steps of the colour scale, one CSS class each
constexpr double kMargin = 20;            // around a piece
constexpr int kLongestSvgLabel = 24;      // columns; longer tokens are cut
constexpr std::int64_t kFewCells = 1600;  // in larger maps cells have no tooltips

int level(double weight) {
  return static_cast<int>(std::lround(std::clamp(weight, 0.0, 1.0) * kLevels));
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  for (const std::string& token : token_names(tokens)) labels.push_back(label(token, kLongestSvgLabel));
  return labels;
}

std::string heading(const AttentionRecord& picture) {
  if (picture.title.empty()) return {};
  return fmt::format("<text class=\"h\" x=\"{}\" y=\"{}\">{}</text>\n", coordinate(kMargin), coordinate(kMargin + 12),
                     escape_markup(picture.title));
}

// The replacement for a picture without tokens.
SvgPiece nothing_to_draw(const AttentionRecord& picture) {
  constexpr double kHeight = 20;
  SvgPiece piece;
  piece.width = 2 * kMargin + std::max(120.0, text_extent(picture.title, 15));
  piece.height = 2 * kMargin + (picture.title.empty() ? 0 : 30) + kHeight;
  piece.body = heading(picture) + fmt::format("<text class=\"q\" x=\"{}\" y=\"{}\">an empty line</text>\n",
                                              coordinate(kMargin), coordinate(piece.height - kMargin - 5));
  return piece;
}

// Copied tokens have a class of their own.
std::string_view copied_class(const AttentionRecord& picture, std::size_t target_token) {
  return picture.is_copied(target_token) ? " class=\"k\"" : "";
}

double heading_height(const AttentionRecord& picture) {
  return picture.title.empty() ? 0 : 30;
}

// A bar from 0 to 1.
std::string legend(double x, double y) {
  constexpr double kStep = 10;
  constexpr int kSteps = 10;
  std::string out = fmt::format("<g class=\"l\"><text x=\"{}\" y=\"{}\" text-anchor=\"end\">0</text>",
                                coordinate(x - 6), coordinate(y + 9));
  for (int i = 0; i <= kSteps; ++i) {
    out += fmt::format("<rect class=\"w{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\"/>", i * kLevels / kSteps,
                       coordinate(x + i * kStep), coordinate(y), coordinate(kStep));
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\">1</text></g>\n", coordinate(x + (kSteps + 1) * kStep + 6),
                           coordinate(y + 9));
}

// The classes w0 … and n0 …: a cell's colour, and the colour of a number on it.
std::string scale_styles(Theme theme) {
  std::string out;
  for (int i = 0; i <= kLevels; ++i) {
    const Rgb colour = weight_colour(static_cast<double>(i) / kLevels, theme);
    out += fmt::format(".w{0}{{fill:{1}}}.n{0}{{fill:{2}}}", i, colour.hex(), text_on(colour).hex());
  }
  return out;
}

}  // namespace

const char* font_stack() {
  return "Inter,'Helvetica Neue',Arial,'Noto Sans','Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif";
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_extent(const std::string& text, double font_size) {
  double ems = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) continue;
    ems += std::string_view("iljtfrI.,:;'|!()[] -").find(c) != std::string_view::npos ? 0.34
           : std::string_view("mwMW@%").find(c) != std::string_view::npos             ? 0.86
           : c >= 'A' && c <= 'Z'                                                     ? 0.68
                                                                                      : 0.56;
  }
  // Other characters: half an em for each terminal column, so a full em for CJK.
  int ascii = 0;
  for (const char c : text) ascii += static_cast<unsigned char>(c) < 0x80 ? 1 : 0;
  ems += 0.54 * (columns(text) - ascii);
  return ems * font_size;
}

SvgPiece svg_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights) {
  if (picture.source.empty() || picture.target.empty()) return nothing_to_draw(picture);
  const std::vector<std::string> source = labels_of(picture.source);
  const std::vector<std::string> target = labels_of(picture.target);
  const std::vector<std::string> all_source = token_names(picture.source), all_target = token_names(picture.target);
  const auto count = static_cast<double>(std::max<std::size_t>({source.size(), target.size(), 1}));
  const double cell = std::clamp(840.0 / count, 9.0, 32.0);
  const double font = std::clamp(cell * 0.5, 7.0, 14.0);
  const bool numbers = cell >= 24;

  // Short tokens such as CJK characters are upright, words are slanted. If most are short, only the long ones are
  // slanted.
  double widest_target = 0;
  double widest_source = 0;
  std::size_t short_ones = 0;
  for (const std::string& one : target) widest_target = std::max(widest_target, text_extent(one, font));
  for (const std::string& one : source) {
    widest_source = std::max(widest_source, text_extent(one, font));
    short_ones += text_extent(one, font) <= cell * 0.9 ? 1 : 0;
  }
  const bool mostly_short = short_ones * 5 >= source.size() * 4;
  const auto slanted = [&](const std::string& one) { return !mostly_short || text_extent(one, font) > cell * 0.9; };
  constexpr double kTurn = 0.7071;  // labels are slanted by 45 degrees
  const double above = short_ones == source.size() ? font + 8 : widest_source * kTurn + font;
  const double x0 = kMargin + widest_target + 10;
  const double y0 = kMargin + heading_height(picture) + above;
  const double right = slanted(source.back()) ? std::max(0.0, text_extent(source.back(), font) * kTurn - cell / 2) : 0;
  const double grid_width = cell * static_cast<double>(source.size());
  const double grid_height = cell * static_cast<double>(target.size());

  SvgPiece piece;
  constexpr double kLegendWidth = 140;
  piece.width =
      std::max(x0 + std::max(grid_width + right, kLegendWidth) + kMargin, 2 * kMargin + text_extent(picture.title, 15));
  piece.height = y0 + grid_height + 34 + kMargin;
  std::string& out = piece.body;
  out = heading(picture);
  out += fmt::format("<g class=\"t\" font-size=\"{}\">\n", coordinate(font));
  for (std::size_t s = 0; s < source.size(); ++s) {
    const double x = x0 + cell * (static_cast<double>(s) + 0.5);
    if (!slanted(source[s])) {
      out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", coordinate(x),
                         coordinate(y0 - 7), escape_markup(source[s]));
    } else {
      out += fmt::format("<text transform=\"translate({} {}) rotate(-45)\">{}</text>\n", coordinate(x + font * 0.3),
                         coordinate(y0 - 6), escape_markup(source[s]));
    }
  }
  for (std::size_t t = 0; t < target.size(); ++t) {
    out += fmt::format("<text{} x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", copied_class(picture, t),
                       coordinate(x0 - 8), coordinate(y0 + cell * (static_cast<double>(t) + 0.5) + font * 0.36),
                       escape_markup(target[t]));
  }
  out += "</g>\n";
  out += fmt::format("<rect class=\"w0\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", coordinate(x0),
                     coordinate(y0), coordinate(grid_width), coordinate(grid_height));
  const bool tooltips = weights.rows * weights.columns <= kFewCells;
  out += fmt::format("<g class=\"c\" font-size=\"{}\">\n", coordinate(font * 0.72));
  for (std::int64_t t = 0; t < weights.rows; ++t) {
    for (std::int64_t s = 0; s < weights.columns; ++s) {
      const double weight = weights.at(t, s);
      const int shade = level(weight);
      if (!tooltips && shade == 0) continue;
      const double x = x0 + cell * static_cast<double>(s);
      const double y = y0 + cell * static_cast<double>(t);
      out += fmt::format("<rect class=\"w{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", shade, coordinate(x),
                         coordinate(y), coordinate(cell), coordinate(cell));
      out += tooltips ? fmt::format("><title>{} ← {}: {:.4f}</title></rect>",
                                    escape_markup(all_target[static_cast<std::size_t>(t)]),
                                    escape_markup(all_source[static_cast<std::size_t>(s)]), weight)
                      : "/>";
      if (numbers && weight >= 0.05) {
        out += fmt::format("<text class=\"n{}\" x=\"{}\" y=\"{}\">{}</text>", shade, coordinate(x + cell / 2),
                           coordinate(y + cell / 2 + font * 0.26), std::lround(weight * 100));
      }
    }
    out += '\n';
  }
  out += "</g>\n";
  out += legend(x0 + 12, y0 + grid_height + 18);
  if (!picture.copied.empty()) {
    out += fmt::format("<g class=\"l\"><text class=\"k\" x=\"{}\" y=\"{}\" text-anchor=\"end\">copied</text></g>\n",
                       coordinate(x0 - 8), coordinate(y0 + grid_height + 27));
  }
  return piece;
}

SvgPiece svg_ribbon(const AttentionRecord& picture, const AttentionMatrix& weights) {
  constexpr double kFont = 16;
  constexpr double kGap = 22;  // between tokens
  if (picture.source.empty() || picture.target.empty()) return nothing_to_draw(picture);
  const std::vector<std::string> source = labels_of(picture.source);
  const std::vector<std::string> target = labels_of(picture.target);
  const std::vector<std::string> all_source = token_names(picture.source), all_target = token_names(picture.target);
  const auto extent = [&](const std::vector<std::string>& row) {
    double total = 0;
    for (const std::string& token : row) total += text_extent(token, kFont) + kGap;
    return std::max(0.0, total - kGap);
  };
  const double inner = std::max(extent(source), extent(target));
  // The centres of a row's tokens; the shorter row is centred.
  const auto centres = [&](const std::vector<std::string>& row) {
    std::vector<double> x;
    double at = kMargin + (inner - extent(row)) / 2;
    for (const std::string& token : row) {
      const double width = text_extent(token, kFont);
      x.push_back(at + width / 2);
      at += width + kGap;
    }
    return x;
  };
  const std::vector<double> xs = centres(source);
  const std::vector<double> xt = centres(target);
  const double top = kMargin + heading_height(picture) + kFont;
  const double drop = std::clamp(inner * 0.22, 90.0, 220.0);
  SvgPiece piece;
  piece.width = std::max(inner, text_extent(picture.title, 15)) + 2 * kMargin;
  piece.height = top + drop + kFont + kMargin;
  const double y1 = top + 8;
  const double y2 = top + drop - kFont - 3;
  std::string& out = piece.body;
  out = heading(picture) + "<g class=\"r\">\n";
  for (std::size_t t = 0; t < xt.size(); ++t) {
    for (std::size_t s = 0; s < xs.size(); ++s) {
      const double weight = weights.at(static_cast<std::int64_t>(t), static_cast<std::int64_t>(s));
      if (weight < 0.02) continue;  // not visible
      const double bend = (y2 - y1) * 0.45;
      out += fmt::format(
          "<path d=\"M{} {}C{} {} {} {} {} {}\" stroke-width=\"{}\" stroke-opacity=\"{}\"><title>{} ← {}: "
          "{:.4f}</title></path>\n",
          coordinate(xs[s]), coordinate(y1), coordinate(xs[s]), coordinate(y1 + bend), coordinate(xt[t]),
          coordinate(y2 - bend), coordinate(xt[t]), coordinate(y2), coordinate(1 + 4 * weight),
          coordinate(0.08 + 0.85 * weight), escape_markup(all_target[t]), escape_markup(all_source[s]), weight);
    }
  }
  out += fmt::format("</g>\n<g class=\"t\" font-size=\"{}\" text-anchor=\"middle\">\n", coordinate(kFont));
  for (std::size_t s = 0; s < xs.size(); ++s) {
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", coordinate(xs[s]), coordinate(top),
                       escape_markup(source[s]));
  }
  for (std::size_t t = 0; t < xt.size(); ++t) {
    out += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>\n", copied_class(picture, t), coordinate(xt[t]),
                       coordinate(top + drop), escape_markup(target[t]));
  }
  out += "</g>\n";
  return piece;
}

std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title, const std::string& description,
                         const SvgStyles& styles) {
  double width = 1;
  double height = 1;
  for (const SvgPiece& piece : pieces) {
    width = std::max(width, piece.width);
    height += piece.height;
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n<style>\n",
      coordinate(std::ceil(width)), coordinate(std::ceil(height)), escape_markup(title), escape_markup(description));
  out += fmt::format("text{{font-family:{}}}\n", font_stack());
  out += styles.both + ".p{fill:#fff}text{fill:#1c232b}\n" + styles.light;
  out += "\n@media(prefers-color-scheme:dark){\n.p{fill:#14161a}text{fill:#e4e7ea}\n" + styles.dark + "}\n</style>\n";
  out += "<rect class=\"p\" width=\"100%\" height=\"100%\"/>\n";
  double y = 0;
  for (const SvgPiece& piece : pieces) {
    out += fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", coordinate(y), piece.body);
    y += piece.height;
  }
  return out + "</svg>\n";
}

std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title,
                         const std::string& description) {
  SvgStyles styles;
  styles.both =
      ".h{font-size:15px;font-weight:600}.q{font-size:13px;fill-opacity:.7}.l{font-size:11px}.l text{fill-opacity:.7}\n"
      ".c text{text-anchor:middle;font-variant-numeric:tabular-nums}.r{fill:none;stroke-linecap:round}\n";
  styles.light = ".r path{stroke:#2e7bb2}.k{fill:#b65829;font-weight:600}\n" + scale_styles(Theme::light);
  styles.dark = ".r path{stroke:#55c4c9}.k{fill:#dea852}\n" + scale_styles(Theme::dark);
  return svg_document(pieces, title, description, styles);
}

}  // namespace fovea::view
