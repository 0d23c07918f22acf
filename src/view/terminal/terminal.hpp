// Attention and numbers in a terminal.
#pragma once

#include <string>
#include <string_view>

#include "fovea/attention_record.hpp"
#include "view/colour.hpp"

namespace fovea::view {

enum class TerminalColour { none, palette256, truecolour };

/// The capabilities of the terminal.
struct TerminalStyle {
  TerminalColour colour = TerminalColour::none;
  Theme theme = Theme::dark;
  int width = 80;        // columns of a line
  bool numbers = false;  // per cent in the cells, even without colour
};

/// A heat map, one row per target token and one column per source token, per cent in the cells; without colour, shades
/// (░▒▓█). Copied tokens have a star. Source tokens beyond the terminal's width continue below.
[[nodiscard]] std::string draw_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights,
                                        const TerminalStyle& style);

/// Text on a background colour; unchanged without colour.
[[nodiscard]] std::string painted(std::string_view text, const Rgb& background, const TerminalStyle& style);
/// Text in bold or faint; unchanged without colour.
[[nodiscard]] std::string bold(std::string_view text, const TerminalStyle& style);
[[nodiscard]] std::string faint(std::string_view text, const TerminalStyle& style);

}  // namespace fovea::view
