#include "view/classification/classification.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "view/terminal/number_table.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kLongestClassLabel = 32;      // columns; longer labels are cut
constexpr std::size_t kLargestMatrix = 30;  // labels; larger ones do not fit a terminal
constexpr std::size_t kMistakes = 20;       // lines of the list that replaces a larger matrix

std::string table_line(const LabelFigures& one, int label_width, int decimals) {
  return fmt::format("{}  {:>9.{}f}  {:>6.{}f}  {:>6.{}f}  {:>7}  {:>9}\n",
                     pad_right(label(one.label, kLongestClassLabel), label_width), one.precision, decimals, one.recall,
                     decimals, one.f1, decimals, one.support, one.predicted);
}

std::string matrix(const ClassificationScores& result, const TerminalStyle& style) {
  const auto n = static_cast<std::int64_t>(result.labels.size());
  NumberTable table{.name = "confusion", .decimals = 0};
  table.numbers = {n, n, std::vector<float>(static_cast<std::size_t>(n * n), 0)};
  for (const LabelPair& cell : result.confusion) {
    table.numbers.values[cell.reference * result.labels.size() + cell.hypothesis] = static_cast<float>(cell.count);
  }
  for (const LabelFigures& one : result.labels) table.row_labels.push_back(one.label);
  table.column_labels = table.row_labels;
  return bold("confusion matrix", style) + " (a row per reference label, a column per hypothesis label)\n" +
         draw_table(table, style);
}

std::string mistakes(const ClassificationScores& result, const TerminalStyle& style) {
  std::vector<LabelPair> wrong;
  for (const LabelPair& cell : result.confusion) {
    if (cell.reference != cell.hypothesis) wrong.push_back(cell);
  }
  std::stable_sort(wrong.begin(), wrong.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  const std::size_t shown = std::min(wrong.size(), kMistakes);
  std::string out = bold("most frequent mistakes", style) + " (lines, reference, hypothesis)\n";
  for (std::size_t i = 0; i < shown; ++i) {
    out += fmt::format("{:>7}  {}  {}\n", wrong[i].count,
                       label(result.labels[wrong[i].reference].label, kLongestClassLabel),
                       label(result.labels[wrong[i].hypothesis].label, kLongestClassLabel));
  }
  if (shown < wrong.size()) out += fmt::format("and {} other pairs of labels\n", wrong.size() - shown);
  return out;
}

std::string note(const char* what, const std::vector<std::string>& labels) {
  if (labels.empty()) return {};
  std::string out = what;
  for (std::size_t i = 0; i < labels.size() && i < kMistakes; ++i) {
    out += (i == 0 ? " " : ", ") + label(labels[i], kLongestClassLabel);
  }
  if (labels.size() > kMistakes) out += fmt::format(" and {} more", labels.size() - kMistakes);
  return out + "\n";
}

}  // namespace

std::string draw_classification(const ClassificationScores& result, const TerminalStyle& style, int decimals) {
  int width = columns(result.weighted.label);
  for (const LabelFigures& one : result.labels) width = std::max(width, columns(label(one.label, kLongestClassLabel)));
  std::string out = bold(pad_right("label", width) + "  precision  recall      F1  support  predicted", style) + "\n";
  for (const LabelFigures& one : result.labels) out += table_line(one, width, decimals);
  out += table_line(result.macro, width, decimals) + table_line(result.weighted, width, decimals) + "\n";
  out += result.labels.size() <= kLargestMatrix ? matrix(result, style) : mistakes(result, style);
  const std::string notes = note("never predicted:", result.never_predicted()) +
                            note("predicted but not in the references:", result.not_in_references());
  return notes.empty() ? out : out + "\n" + notes;
}

}  // namespace fovea::view
