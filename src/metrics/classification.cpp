// Precision, recall and F1 of labels: P = right / predicted, R = right / support, F1 = 2 P R / (P + R).
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::vector<std::string_view> labels_of(const Lines& lines, const char* which) {
  std::vector<std::string_view> out;
  out.reserve(lines.size());
  for (const std::string& line : lines) {
    out.push_back(text::trim(line));
    if (out.back().empty()) {
      throw UsageError(fmt::format("classification: {} {} is empty; each line must be a label", which, out.size()));
    }
  }
  return out;
}

void add(LabelFigures& to, const LabelFigures& one, double weight) {
  to.precision += weight * one.precision;
  to.recall += weight * one.recall;
  to.f1 += weight * one.f1;
  to.support += one.support;
  to.predicted += one.predicted;
}

}  // namespace

ClassificationScores classification(const Lines& hypotheses, const Lines& references) {
  metrics::check_lines("classification", hypotheses, {references});
  const auto predicted = labels_of(hypotheses, "hypothesis");
  const auto wanted = labels_of(references, "reference");
  std::map<std::string_view, std::size_t> places;
  for (std::size_t line = 0; line < wanted.size(); ++line) {
    places.try_emplace(wanted[line]);
    places.try_emplace(predicted[line]);
  }
  ClassificationScores result;
  for (auto& [label, place] : places) {
    place = result.labels.size();
    result.labels.push_back({.label = std::string(label)});
  }
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> cells;
  for (std::size_t line = 0; line < wanted.size(); ++line) {
    const std::size_t r = places.at(wanted[line]);
    const std::size_t h = places.at(predicted[line]);
    ++cells[{r, h}];
    ++result.labels[r].support;
    ++result.labels[h].predicted;
  }
  result.lines = static_cast<std::int64_t>(wanted.size());
  for (const auto& [cell, count] : cells) {
    result.confusion.push_back({cell.first, cell.second, count});
    if (cell.first != cell.second) continue;
    LabelFigures& label = result.labels[cell.first];
    label.precision = percent(count, label.predicted);
    label.recall = percent(count, label.support);
    label.f1 = percent(2 * count, label.predicted + label.support);  // the same as 2 P R / (P + R)
    result.right += count;
  }
  result.accuracy = percent(result.right, result.lines);
  result.macro.label = "macro average";
  result.weighted.label = "weighted average";
  for (const LabelFigures& label : result.labels) {
    add(result.macro, label, 1 / static_cast<double>(result.labels.size()));
    add(result.weighted, label, static_cast<double>(label.support) / static_cast<double>(result.lines));
  }
  return result;
}

std::vector<std::string> ClassificationScores::never_predicted() const {
  std::vector<std::string> out;
  for (const LabelFigures& label : labels) {
    if (label.predicted == 0) out.push_back(label.label);
  }
  return out;
}

std::vector<std::string> ClassificationScores::not_in_references() const {
  std::vector<std::string> out;
  for (const LabelFigures& label : labels) {
    if (label.support == 0) out.push_back(label.label);
  }
  return out;
}

}  // namespace fovea
