// Attention as SVG, for pages and papers.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// A piece of SVG at its own origin, for a document of several.
struct SvgPiece {
  double width = 0, height = 0;
  std::string body;
};

/// A heat map: target tokens down the side, source tokens along the top, weights as colours and, in large cells, per
/// cent. Tooltips give the exact weights.
[[nodiscard]] SvgPiece svg_heat_map(const AttentionRecord& picture, const AttentionMatrix& weights);

/// The alignment as ribbons: source tokens above, target tokens below, joined by lines whose width and opacity follow
/// the weights.
[[nodiscard]] SvgPiece svg_ribbon(const AttentionRecord& picture, const AttentionMatrix& weights);

/// A standalone file with the pieces below each other, light or dark by the reader's preference.
[[nodiscard]] std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title,
                                       const std::string& description);

/// The CSS of a document: for both themes, for light and for dark.
struct SvgStyles {
  std::string both, light, dark;
};

/// The same with other styles.
[[nodiscard]] std::string svg_document(const std::vector<SvgPiece>& pieces, const std::string& title,
                                       const std::string& description, const SvgStyles& styles);

/// The approximate width of the text in a sans-serif font of this size.
[[nodiscard]] double text_extent(const std::string& text, double font_size);

/// A number for SVG: at most two decimals, no trailing zeros.
[[nodiscard]] std::string coordinate(double value);

/// The fonts to use, sans-serif, with CJK.
[[nodiscard]] const char* font_stack();

}  // namespace fovea::view
