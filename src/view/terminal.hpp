// Attention and numbers in a terminal.
#pragma once

#include <string>
#include <string_view>

#include "fovea/attention_record.hpp"
#include "view/colour.hpp"

namespace fovea::view {

enum class TerminalColour { none, palette256, truecolour };

/// What the terminal can do; the caller finds out.
struct TerminalStyle {
  TerminalColour colour = TerminalColour::none;
  Theme theme = Theme::dark;
  int width = 80;        // columns a line may take
  bool numbers = false;  // write the per cent into the cells, also without colour
};

/// A heat map, one row per target token and one column per source token, per cent in the cells; without colour, shades
/// (░▒▓█). Tokens that were copied have a star. Where it would be wider than the terminal it goes on below with the
/// next source tokens.
[[nodiscard]] std::string draw_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights,
                                        const TerminalStyle& style);

/// Text on a background colour, or as it is when the terminal has none.
[[nodiscard]] std::string painted(std::string_view text, const Rgb& background, const TerminalStyle& style);
/// Text in the terminal's own bold or faint face.
[[nodiscard]] std::string bold(std::string_view text, const TerminalStyle& style);
[[nodiscard]] std::string faint(std::string_view text, const TerminalStyle& style);

}  // namespace fovea::view
