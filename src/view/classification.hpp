// The figures of a classification for readers: a table in the terminal, the confusion matrix as a picture.
#pragma once

#include <string>

#include "fovea/metrics/classification.hpp"
#include "view/terminal.hpp"

namespace fovea::view {

/// A line per label and average, the confusion matrix (or, of more than 30 labels, the most frequent mistakes), and
/// which labels were never predicted or are not in the references.
[[nodiscard]] std::string draw_classification(const ClassificationScores& result, const TerminalStyle& style,
                                              int decimals);

/// The confusion matrix as a standalone picture: references down the side, hypotheses along the top, a cell's count
/// and, as its colour, its share of the reference label's lines. Throws UsageError for more than 300 labels.
[[nodiscard]] std::string svg_confusion(const ClassificationScores& result, const std::string& title);

}  // namespace fovea::view
