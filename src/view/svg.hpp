// Attention as SVG: a picture for a page or a paper that needs no script.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// A finished piece of SVG at its own origin, to be put into a document with others.
struct SvgPiece {
  double width = 0, height = 0;
  std::string body;
};

/// A heat map: target tokens down the side, source tokens along the top, weights as colours and, where there is room,
/// per cent; every cell's exact weight in its tooltip.
[[nodiscard]] SvgPiece svg_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights);

/// The alignment as ribbons: source tokens above, target tokens below, joined by lines as strong as the weights.
[[nodiscard]] SvgPiece svg_ribbon(const AttentionRecord& picture, const AttentionMatrix& weights);

/// One standalone file with the pieces below each other. It follows the reader's dark or light preference.
[[nodiscard]] std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title,
                                       const std::string& description);

/// What a document's pieces look like: CSS for both themes, and what differs between light and dark.
struct SvgStyles {
  std::string both, light, dark;
};

/// The same for pieces that bring their own styles.
[[nodiscard]] std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title,
                                       const std::string& description, const SvgStyles& styles);

/// About how wide a viewer sets the text in a sans-serif font of this size.
[[nodiscard]] double text_extent(const std::string& text, double font_size);

/// A number for SVG: at most two decimals, no trailing zeros.
[[nodiscard]] std::string coordinate(double value);

/// The fonts to use, sans-serif, with CJK.
[[nodiscard]] const char* font_stack();

}  // namespace fovea::view
