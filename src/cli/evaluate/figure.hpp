// The figures of fovea evaluate, and what they are computed from.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fovea/metrics.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::cli {

struct EvaluateOptions {
  std::string hypothesis;
  std::vector<std::string> references;
  std::vector<std::string> metrics{"bleu"};
  std::string tokenize;  // empty: each metric's own
  std::string smoothing = "exp";
  bool lowercase = false;
  bool stem = false;  // of rouge
  bool json = false;
  int width = 2;
  std::string svg;  // of classification
  std::string color = "auto";
  // Of chat.
  std::string log_probabilities, token_counts, train, contexts, train_contexts;
  std::uint64_t seed = 1;

  [[nodiscard]] std::optional<MetricTokenizer> tokenizer() const;
};

struct Figure {
  std::string name;
  double score = 0;
  std::string signature{};
  std::string details{};
  std::string text{};             // for readers, below the metric's figures
  nlohmann::ordered_json more{};  // further fields of the JSON object
};

/// The figures of one metric.
[[nodiscard]] std::vector<Figure> measure(const std::string& metric, const Lines& hypotheses,
                                          const References& references, const EvaluateOptions& options,
                                          const view::TerminalStyle& style);

[[nodiscard]] std::vector<Figure> measure_chat(const Lines& replies, const References& references,
                                               const EvaluateOptions& options);

/// Labels against the labels of a single reference file; writes --svg.
[[nodiscard]] std::vector<Figure> measure_classification(const Lines& hypotheses, const References& references,
                                                         const EvaluateOptions& options,
                                                         const view::TerminalStyle& style);

/// Throws FileError naming both files and their counts when they have different numbers of lines.
void check_same_lines(const std::string& path, const Lines& lines, const std::string& other, const Lines& other_lines);

}  // namespace fovea::cli
