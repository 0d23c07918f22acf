// How well labels were predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/metrics/lines.hpp"

namespace FOVEA_API fovea {

/// Precision, recall and F1 in percent. What would be divided by 0 is 0.
struct LabelFigures {
  std::string label;                         // as in the files
  double precision = 0, recall = 0, f1 = 0;  // in percent
  std::int64_t support = 0;                  // lines whose reference is this label
  std::int64_t predicted = 0;                // lines whose hypothesis is this label
};

/// A reference label and a hypothesis label that met in `count` lines.
struct LabelPair {
  std::size_t reference = 0, hypothesis = 0;  // places in ClassificationScores::labels
  std::int64_t count = 0;                     // lines
};

/// How well labels were predicted.
struct ClassificationScores {
  double accuracy = 0;               // in percent
  std::int64_t right = 0;            // lines whose hypothesis is the reference
  std::int64_t lines = 0;            // all there are
  std::vector<LabelFigures> labels;  // every label of the references or the hypotheses, in the order of their bytes
  LabelFigures macro;                // the mean over `labels`; its label is "macro average"
  LabelFigures weighted;             // the mean over `labels`, each weighted by its support
  std::vector<LabelPair> confusion;  // the cells of the confusion matrix that are not 0, row (reference) after row

  [[nodiscard]] std::vector<std::string> never_predicted() const;    // in the references only
  [[nodiscard]] std::vector<std::string> not_in_references() const;  // in the hypotheses only
};

/// Compares each label with its reference, white space at the ends aside:
///   precision = right / predicted,  recall = right / support,  F1 = 2 P R / (P + R)
/// as scikit-learn's classification_report. Throws UsageError naming the line when a label is empty, and when there
/// are not as many references as hypotheses or none at all.
///
///     classification({"cat", "dog"}, {"cat", "cat"}).accuracy == 50
[[nodiscard]] ClassificationScores classification(const Lines& hypotheses, const Lines& references);

}  // namespace fovea
