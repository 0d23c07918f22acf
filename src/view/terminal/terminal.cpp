#include "view/terminal/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "view/text.hpp"
#include "view/token_names.hpp"

namespace fovea::view {
namespace {

constexpr int kLongestLabel = 16;          // columns; longer tokens are cut
constexpr std::string_view kCopied = "*";  // after a target token that was copied

// The nearest colour of the 6x6x6 cube and the 24 greys of a 256-colour terminal.
int palette_index(const Rgb& c) {
  constexpr int kSteps[] = {0, 95, 135, 175, 215, 255};
  const auto nearest = [&](int channel) {
    int best = 0;
    for (int i = 1; i < 6; ++i) {
      if (std::abs(kSteps[i] - channel) < std::abs(kSteps[best] - channel)) best = i;
    }
    return best;
  };
  const auto distance = [&](int r, int g, int b) {
    return (r - c.r) * (r - c.r) + (g - c.g) * (g - c.g) + (b - c.b) * (b - c.b);
  };
  const int r = nearest(c.r), g = nearest(c.g), b = nearest(c.b);
  const int grey = std::clamp(((c.r + c.g + c.b) / 3 - 3) / 10, 0, 23);
  const int level = 8 + 10 * grey;
  if (distance(level, level, level) < distance(kSteps[r], kSteps[g], kSteps[b])) return 232 + grey;
  return 16 + 36 * r + 6 * g + b;
}

std::string face(std::string_view text, int code, const TerminalStyle& style) {
  if (style.colour == TerminalColour::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string shade(double weight, int width) {
  const char* mark = weight < 0.1 ? "·" : weight < 0.25 ? "░" : weight < 0.45 ? "▒" : weight < 0.7 ? "▓" : "█";
  std::string out;
  if (weight < 0.1) return std::string(static_cast<std::size_t>(width / 2), ' ') + pad_right(mark, width - width / 2);
  for (int i = 0; i < width; ++i) out += mark;
  return out;
}

// The end of each panel when a panel has at most `room` columns.
std::vector<std::size_t> panel_ends(const std::vector<int>& widths, int room) {
  std::vector<std::size_t> ends;
  int used = 0;
  for (std::size_t s = 0; s < widths.size(); ++s) {
    if (used > 0 && used + widths[s] > room) {
      ends.push_back(s);
      used = 0;
    }
    used += widths[s];
  }
  if (!widths.empty()) ends.push_back(widths.size());
  return ends;
}

// One cell of `width` columns; the last column separates labels, not colours.
std::string cell(double weight, int width, const TerminalStyle& style, bool room_for_numbers) {
  const bool numbers = room_for_numbers && (style.numbers || style.colour != TerminalColour::none);
  const long percent = std::lround(weight * 100);
  std::string number(static_cast<std::size_t>(width), ' ');
  if (numbers && percent > 0) {
    number = pad_right(pad_left(fmt::format("{}", percent), std::min(width - 1, 3)), width);
  }
  if (style.colour != TerminalColour::none) return painted(number, weight_colour(weight, style.theme), style);
  return numbers ? number : shade(weight, width - 1) + " ";
}

}  // namespace

std::string painted(std::string_view text, const Rgb& background, const TerminalStyle& style) {
  const Rgb ink = text_on(background);
  switch (style.colour) {
    case TerminalColour::truecolour:
      return fmt::format("\x1b[48;2;{};{};{};38;2;{};{};{}m{}\x1b[0m", background.r, background.g, background.b, ink.r,
                         ink.g, ink.b, text);
    case TerminalColour::palette256:
      return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", palette_index(background), ink.r == 0 ? 16 : 231, text);
    case TerminalColour::none:
      break;
  }
  return std::string(text);
}

std::string bold(std::string_view text, const TerminalStyle& style) {
  return face(text, 1, style);
}
std::string faint(std::string_view text, const TerminalStyle& style) {
  return face(text, 2, style);
}

std::string draw_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights, const TerminalStyle& style) {
  const auto labels_of = [](const std::vector<std::string>& tokens) {
    std::vector<std::string> labels;
    labels.reserve(tokens.size());
    for (const std::string& token : token_names(tokens)) labels.push_back(label(token, kLongestLabel));
    return labels;
  };
  const std::vector<std::string> source = labels_of(picture.source);
  std::vector<std::string> target = labels_of(picture.target);
  bool any_copied = false;
  for (std::size_t t = 0; t < target.size(); ++t) {
    if (!picture.is_copied(t)) continue;
    target[t] += kCopied;
    any_copied = true;
  }
  int margin = 0;
  for (const std::string& one : target) margin = std::max(margin, columns(one));
  margin += 2;  // a space on both sides
  const int room = std::max(style.width - margin, kLongestLabel + 1);

  // A column is as wide as its label and a space, and at least as wide as "100 ", as "99 " ("100" then touches its
  // neighbour) or as one character without a number: the first of these with which all tokens fit one panel.
  std::vector<int> widths;
  bool numbers = true;
  for (const int least : {4, 3, 2}) {
    widths.clear();
    int total = 0;
    for (const std::string& one : source) {
      widths.push_back(std::max(columns(one) + 1, least));
      total += widths.back();
    }
    numbers = least > 2;
    if (total <= room) break;
  }
  if (style.numbers) {
    numbers = true;
    for (int& width : widths) width = std::max(width, 3);
  }

  // As few panels as possible, then as narrow as their number allows, so that all have similar widths.
  std::vector<std::size_t> ends = panel_ends(widths, room);
  for (int narrower = room - 1; narrower > kLongestLabel; --narrower) {
    std::vector<std::size_t> even = panel_ends(widths, narrower);
    if (even.size() > ends.size()) break;
    ends = std::move(even);
  }

  std::string out;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (begin > 0) out += '\n';
    out += std::string(static_cast<std::size_t>(margin), ' ');
    for (std::size_t s = begin; s < end; ++s) out += pad_right(source[s], widths[s]);
    while (out.back() == ' ') out.pop_back();
    out += '\n';
    for (std::size_t t = 0; t < target.size(); ++t) {
      const std::string name = pad_left(target[t], margin - 1) + " ";
      out += picture.is_copied(t) ? bold(name, style) : name;
      for (std::size_t s = begin; s < end; ++s) {
        out += cell(weights.at(static_cast<std::int64_t>(t), static_cast<std::int64_t>(s)), widths[s], style, numbers);
      }
      while (out.back() == ' ') out.pop_back();
      out += '\n';
    }
    begin = end;
  }
  if (any_copied) out += faint(fmt::format("{} copied from the source", kCopied), style) + "\n";
  return out;
}

}  // namespace fovea::view
