#include "view/classification/shaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/page/page.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr std::size_t kShownLabels = 12;  // more are counted
constexpr double kShownShare = 0.1;       // of the largest value; smaller ones have no number
constexpr std::string_view kSpace = "▁";  // marks a space before a token

// A displayed word, and its value scaled to -1 … 1.
struct ShadedWord {
  std::string text;
  bool space_before = false;
  double value = 0;
};

// One shading of the text.
struct Shading {
  std::string title;
  bool is_signed = false;  // saliency may be negative
  std::vector<ShadedWord> words;
};

std::vector<ShadedWord> shaded_words(const std::vector<std::string>& tokens, const std::vector<float>& values) {
  const bool marked =
      std::any_of(tokens.begin(), tokens.end(), [](const auto& t) { return t.find(kSpace) != std::string::npos; });
  double most = 1e-9;
  for (const float v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  std::vector<ShadedWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string text = tokens[i];
    if (text == "</s>") continue;
    bool space = !words.empty() && !marked;
    if (text.starts_with(kSpace)) {
      space = !words.empty();
      text.erase(0, kSpace.size());
    }
    words.push_back({clean(text), space, static_cast<double>(values[i]) / most});
  }
  return words;
}

std::vector<Shading> shadings(const AttentionRecord& record) {
  std::vector<Shading> all;
  if (!record.weights.values.empty()) {
    const auto first = record.weights.values.begin();
    all.push_back({"attention", false, shaded_words(record.source, {first, first + record.weights.columns})});
  }
  for (const RecordLabel& one : record.labels) {
    if (one.saliency.empty()) continue;
    all.push_back({"saliency for " + clean(one.label), true, shaded_words(record.source, one.saliency)});
  }
  return all;
}

Rgb shade_of(const Shading& shading, double value, Theme theme) {
  return shading.is_signed ? signed_colour(value, theme) : weight_colour(value, theme);
}

std::string probability_bar(double share, int width) {
  const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string out;
  for (int i = 0; i < width; ++i) out += i < filled ? "█" : "·";
  return out;
}

}  // namespace

std::string draw_shaded(const AttentionRecord& record, const TerminalStyle& style) {
  std::string out;
  int widest = 5;
  const std::size_t shown = std::min(record.labels.size(), kShownLabels);
  for (std::size_t i = 0; i < shown; ++i) widest = std::max(widest, std::min(30, columns(record.labels[i].label)));
  for (std::size_t i = 0; i < shown; ++i) {
    const RecordLabel& one = record.labels[i];
    const std::string line =
        fmt::format("{}  {} {:5.1f} %", pad_right(fit(clean(one.label), widest), widest),
                    probability_bar(one.probability, 20), 100 * static_cast<double>(one.probability));
    out += (i == 0 ? bold(line, style) : line) + "\n";
  }
  if (shown < record.labels.size()) out += fmt::format("and {} less likely labels\n", record.labels.size() - shown);
  for (const Shading& shading : shadings(record)) {
    out += faint(shading.title, style) + "\n";
    int at = 0;
    for (const ShadedWord& word : shading.words) {
      std::string text = word.text;
      const bool plain = style.colour == TerminalColour::none || style.numbers;
      if (plain && std::abs(word.value) >= kShownShare) {
        text +=
            shading.is_signed ? fmt::format("({:+.0f})", 100 * word.value) : fmt::format("({:.0f})", 100 * word.value);
      }
      const int width = columns(text) + (word.space_before ? 1 : 0);
      const bool wraps = at > 0 && at + width > style.width;
      if (wraps) {
        out += "\n";
        at = 0;
      } else if (word.space_before && at > 0) {
        out += " ";
      }
      out += painted(text, shade_of(shading, word.value, style.theme), style);
      at += width;
    }
    out += "\n";
  }
  return out;
}

SvgPiece svg_shaded(const AttentionRecord& record) {
  constexpr double width = 760, line = 30, size = 16, small = 12, bar_width = 180;
  SvgPiece piece{width, 0, {}};
  double y = 0;
  double name_width = 40;
  const std::size_t shown = std::min(record.labels.size(), kShownLabels);
  for (std::size_t i = 0; i < shown; ++i) {
    name_width = std::max(name_width, std::min(260.0, text_extent(fit(record.labels[i].label, 30), small)));
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const RecordLabel& one = record.labels[i];
    y += 20;
    piece.body += fmt::format(
        "<text class=\"small\" x=\"0\" y=\"{0}\">{1}</text><rect class=\"bar\" x=\"{2}\" y=\"{3}\" width=\"{4}\" "
        "height=\"12\" rx=\"2\"/><text class=\"small\" x=\"{5}\" y=\"{0}\">{6:.1f} %</text>\n",
        coordinate(y), escape_markup(fit(clean(one.label), 30)), coordinate(name_width + 12), coordinate(y - 10),
        coordinate(std::max(0.5, bar_width * static_cast<double>(one.probability))),
        coordinate(name_width + 12 + bar_width + 10), 100 * static_cast<double>(one.probability));
  }
  if (shown < record.labels.size()) {
    y += 20;
    piece.body += fmt::format("<text class=\"small\" x=\"0\" y=\"{}\">and {} less likely labels</text>\n",
                              coordinate(y), record.labels.size() - shown);
  }
  for (const Shading& shading : shadings(record)) {
    y += 34;
    piece.body +=
        fmt::format("<text class=\"small\" x=\"0\" y=\"{}\">{}</text>\n", coordinate(y), escape_markup(shading.title));
    y += line - 2;
    double x = 0;
    const double space = text_extent(" ", size) + 2;
    for (const ShadedWord& word : shading.words) {
      const double extent = text_extent(word.text, size) + 6;
      if (word.space_before && x > 0) x += space;
      if (x > 0 && x + extent > width) {
        x = 0;
        y += line;
      }
      // Both themes: the style sheet hides one of them.
      for (const Theme theme : {Theme::light, Theme::dark}) {
        const Rgb background = shade_of(shading, word.value, theme);
        piece.body += fmt::format(
            "<g class=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"23\" rx=\"3\" fill=\"{}\"/><text x=\"{}\" "
            "y=\"{}\" style=\"fill:{}\">{}</text></g>",
            theme == Theme::light ? "by-day" : "by-night", coordinate(x), coordinate(y - 17), coordinate(extent),
            background.hex(), coordinate(x + 3), coordinate(y), text_on(background).hex(), escape_markup(word.text));
      }
      piece.body += '\n';
      x += extent + 1;
    }
  }
  constexpr double margin = 18;
  piece.body = fmt::format("<g transform=\"translate({0} {0})\">\n{1}</g>\n", coordinate(margin), piece.body);
  piece.width = width + 2 * margin;
  piece.height = y + 10 + 2 * margin;
  return piece;
}

std::string shaded_document(const std::vector<SvgPiece>& pieces, const std::string& title) {
  SvgStyles styles;
  styles.both = fmt::format("text{{font:16px {0}}}.small{{font-size:12px}}", font_stack());
  styles.light = ".by-night{display:none}.small{fill:#5a6570}.bar{fill:#2e7bb2}";
  styles.dark = ".by-night{display:inline}.by-day{display:none}.small{fill:#98a3ae}.bar{fill:#20a7be}";
  return svg_document(pieces, title, "What decided on the label: words shaded by attention and by saliency.", styles);
}

std::string shaded_page(const std::vector<AttentionRecord>& records, const std::string& title) {
  return html_page({.kind = "classification", .title = title, .data = {{"pictures", records_json(records)}}});
}

}  // namespace fovea::view
