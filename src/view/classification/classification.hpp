// The scores of a classification: a table in the terminal, the confusion matrix as a picture.
#pragma once

#include <string>

#include "fovea/metrics/classification.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::view {

/// A line per label and average; the confusion matrix, or the most frequent mistakes for more than 30 labels; the
/// labels that were never predicted or are not in the references.
[[nodiscard]] std::string draw_classification(const ClassificationScores& result, const TerminalStyle& style,
                                              int decimals);

/// The confusion matrix as a standalone picture: references down the side, hypotheses along the top, the count in each
/// cell and, as its colour, its share of the reference label's lines. Throws UsageError for more than 300 labels.
[[nodiscard]] std::string svg_confusion(const ClassificationScores& result);

}  // namespace fovea::view
