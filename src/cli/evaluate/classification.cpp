// --metric classification: figures, table and picture.
#include <fmt/format.h>

#include "base/whole_file.hpp"
#include "cli/evaluate/figure.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"
#include "view/classification/classification.hpp"

namespace fovea::cli {
namespace {

Lines labels_of(const Lines& lines, const std::string& path, bool lowercase) {
  Lines out;
  for (const std::string& line : lines) {
    const std::string_view label = text::trim(line);
    if (label.empty()) {
      throw FileError(fmt::format("{}:{}: is empty; each line must be a label", path, out.size() + 1));
    }
    out.push_back(lowercase ? text::to_lower(label) : std::string(label));
  }
  return out;
}

nlohmann::ordered_json to_json(const LabelFigures& one) {
  return {{"label", one.label}, {"precision", one.precision}, {"recall", one.recall},
          {"f1", one.f1},       {"support", one.support},     {"predicted", one.predicted}};
}

nlohmann::ordered_json to_json(const ClassificationScores& result) {
  nlohmann::ordered_json out;
  for (const LabelFigures& one : result.labels) out["labels"].push_back(to_json(one));
  out["macro"] = to_json(result.macro);
  out["weighted"] = to_json(result.weighted);
  for (const LabelPair& one : result.confusion) {
    out["confusion"].push_back({{"reference", result.labels[one.reference].label},
                                {"hypothesis", result.labels[one.hypothesis].label},
                                {"count", one.count}});
  }
  out["never_predicted"] = result.never_predicted();
  out["not_in_references"] = result.not_in_references();
  return out;
}

}  // namespace

std::vector<Figure> measure_classification(const Lines& hypotheses, const References& references,
                                           const EvaluateOptions& options, const view::TerminalStyle& style) {
  if (references.size() > 1) throw UsageError("--metric classification takes one --reference");
  const ClassificationScores result =
      classification(labels_of(hypotheses, options.hypothesis, options.lowercase),
                     labels_of(references[0], options.references[0], options.lowercase));
  if (!options.svg.empty()) write_whole_file(options.svg, view::svg_confusion(result));
  const auto figure = [&](const char* name, const LabelFigures& mean) {
    return Figure{name, mean.f1, "",
                  fmt::format("(precision = {:.{}f} recall = {:.{}f})", mean.precision, options.width, mean.recall,
                              options.width)};
  };
  return {{.name = "accuracy",
           .score = result.accuracy,
           .details = fmt::format("({} of {} lines)", result.right, result.lines),
           .text = view::draw_classification(result, style, options.width),
           .more = to_json(result)},
          figure("macro F1", result.macro),
          figure("weighted F1", result.weighted)};
}

}  // namespace fovea::cli
