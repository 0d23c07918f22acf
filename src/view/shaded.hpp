// A classifier's text, shaded by what decided: by attention, and by saliency for each label.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/svg.hpp"
#include "view/terminal.hpp"

namespace fovea::view {

/// Labels with their probabilities, then the text once for each shading, wrapped to the terminal. Without colour, words
/// that have a tenth of the largest value or more are followed by their share of it in per cent, with its sign.
[[nodiscard]] std::string draw_shaded(const AttentionRecord& record, const TerminalStyle& style);

/// The same as a piece of a picture.
[[nodiscard]] SvgPiece svg_shaded(const AttentionRecord& record);
/// Pieces of it as a standalone file.
[[nodiscard]] std::string shaded_document(const std::vector<SvgPiece>& pieces, const std::string& title);

/// The page of `fovea view --html` for such records: a label can be chosen, and its words are shaded.
[[nodiscard]] std::string shaded_page(const std::vector<AttentionRecord>& records, const std::string& title);

}  // namespace fovea::view
