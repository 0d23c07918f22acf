// A classifier's text, shaded by attention and by the saliency of each label.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/svg/svg.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::view {

/// Labels with their probabilities, then the text once for each shading, wrapped to the terminal. Without colour, words
/// with at least a tenth of the largest value are followed by their signed share of it in per cent.
[[nodiscard]] std::string draw_shaded(const AttentionRecord& record, const TerminalStyle& style);

/// The same as SVG.
[[nodiscard]] SvgPiece svg_shaded(const AttentionRecord& record);
/// A standalone file of such pieces.
[[nodiscard]] std::string shaded_document(const std::vector<SvgPiece>& pieces, const std::string& title);

/// The page of `fovea view --html` for such records: the reader chooses a label, and its words are shaded.
[[nodiscard]] std::string shaded_page(const std::vector<AttentionRecord>& records, const std::string& title);

}  // namespace fovea::view
