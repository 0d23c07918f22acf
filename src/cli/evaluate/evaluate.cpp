// fovea evaluate --hypothesis FILE --reference FILE…
//                --metric bleu|chrf|chrf++|ter|rouge|accuracy|wer|classification|caption|chat…
//                [--lowercase] [--tokenize 13a|zh|char|none] [--smoothing exp|floor|add-k|none] [--json] [--width N]
//                [--stem] [--svg FILE] [--color auto|always|never]
//                [--log-probabilities FILE [--token-counts FILE]] [--train FILE [--seed N]]
//                [--contexts FILE --train-contexts FILE]
//
// One line per figure: the number, a tab, the metric's name with its signature, and where there is more to say a tab
// and the details. --json prints an object, or an array of them when there are several figures. All in percent but
// perplexity. Below the figures of classification there is a table of the labels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>

#include "cli/command.hpp"
#include "cli/evaluate/figure.hpp"
#include "cli/io/terminal.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"

namespace fovea::cli {
namespace {

nlohmann::ordered_json to_json(const Figure& figure, int width) {
  const double scale = std::pow(10.0, width);
  nlohmann::ordered_json out{{"name", figure.name}, {"score", std::round(figure.score * scale) / scale}};
  if (!figure.signature.empty()) out["signature"] = figure.signature;
  if (!figure.details.empty()) out["verbose_score"] = figure.details;
  for (const auto& [name, value] : figure.more.items()) out[name] = value;
  // The signature's parts by name, as sacreBLEU gives them.
  for (std::size_t at = 0; at < figure.signature.size();) {
    const std::size_t end = std::min(figure.signature.find('|', at), figure.signature.size());
    const std::string pair = figure.signature.substr(at, end - at);
    const std::size_t colon = pair.find(':');
    out[pair.substr(0, colon)] = pair.substr(colon + 1);
    at = end + 1;
  }
  return out;
}

// An option that the metric does not use is refused: ignoring it would hide a mistake.
void check_options(const EvaluateOptions& options) {
  const auto wanted = [&](const char* metric) {
    return std::find(options.metrics.begin(), options.metrics.end(), metric) != options.metrics.end();
  };
  const auto needs = [&](const char* option, bool given, const char* metric) {
    if (given && !wanted(metric)) throw UsageError(fmt::format("{} is for --metric {}", option, metric));
  };
  needs("--stem", options.stem, "rouge");
  needs("--svg", !options.svg.empty(), "classification");
  needs("--log-probabilities", !options.log_probabilities.empty(), "chat");
  needs("--token-counts", !options.token_counts.empty(), "chat");
  needs("--train", !options.train.empty(), "chat");
  needs("--contexts", !options.contexts.empty(), "chat");
  needs("--train-contexts", !options.train_contexts.empty(), "chat");
  if (options.contexts.empty() != options.train_contexts.empty()) {
    throw UsageError("--contexts and --train-contexts are compared with each other: give both");
  }
  if (!options.token_counts.empty() && options.log_probabilities.empty()) {
    throw UsageError("--token-counts needs --log-probabilities");
  }
}

void print(const std::vector<Figure>& figures, int width, std::ostream& out) {
  for (const Figure& figure : figures) {
    out << fmt::format("{:.{}f}\t{}", figure.score, width, figure.name);
    if (!figure.signature.empty()) out << '|' << figure.signature;
    if (!figure.details.empty()) out << '\t' << figure.details;
    out << '\n';
  }
  for (const Figure& figure : figures) {
    if (!figure.text.empty()) out << '\n' << figure.text;
  }
}

void evaluate(const EvaluateOptions& options, const Streams& streams) {
  check_options(options);
  const Lines hypotheses = text::read_lines(options.hypothesis);
  References references;
  for (const std::string& path : options.references) {
    references.push_back(text::read_lines(path));
    check_same_lines(options.hypothesis, hypotheses, path, references.back());
  }
  if (hypotheses.empty()) {
    throw FileError(fmt::format("{} and {} hold no lines to compare", options.hypothesis, options.references.front()));
  }
  const view::TerminalStyle style = terminal_style(streams.out, options.color);
  std::vector<Figure> figures;
  for (const std::string& metric : options.metrics) {
    for (Figure& figure : measure(metric, hypotheses, references, options, style)) figures.push_back(std::move(figure));
  }
  if (!options.json) return print(figures, options.width, streams.out);
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) out.push_back(to_json(figure, options.width));
  streams.out << (out.size() == 1 ? out[0] : out).dump(1) << '\n';
}

}  // namespace

void check_same_lines(const std::string& path, const Lines& lines, const std::string& other, const Lines& other_lines) {
  if (lines.size() == other_lines.size()) return;
  throw FileError(fmt::format("{} has {} lines but {} has {}; each line of one must answer the same line of the other",
                              path, lines.size(), other, other_lines.size()));
}

void add_evaluate(CLI::App& app, const Streams& streams) {
  auto* command = app.add_subcommand("evaluate", "score output lines against reference lines");
  const auto options = std::make_shared<EvaluateOptions>();
  command->add_option("--hypothesis", options->hypothesis, "the lines to score, plain or .gz")->required();
  command->add_option("--reference", options->references, "the lines they should be; several files may be given")
      ->required();
  command->add_option("--metric", options->metrics, "what to measure; may be given several times (bleu)")
      ->check(CLI::IsMember(
          {"bleu", "chrf", "chrf++", "ter", "rouge", "accuracy", "wer", "classification", "caption", "chat"}));
  command
      ->add_option("--tokenize", options->tokenize,
                   "how words are found for bleu (13a), wer (none), rouge, caption and chat (rules of their own)")
      ->check(CLI::IsMember({"13a", "zh", "char", "none"}));
  command->add_option("--smoothing", options->smoothing, "what bleu does about n-grams never met (exp)")
      ->check(CLI::IsMember({"exp", "floor", "add-k", "none"}));
  command->add_flag("--lowercase", options->lowercase,
                    "ignore case; ter, rouge, caption and the words of chat always do");
  command->add_flag("--stem", options->stem, "rouge: compare English words by their stems");
  command->add_option("--svg", options->svg, "classification: write the confusion matrix as a picture");
  command->add_option("--log-probabilities", options->log_probabilities,
                      "chat: a natural log-probability per line, as fovea score prints; gives the perplexity");
  command->add_option("--token-counts", options->token_counts,
                      "chat: tokens per line for the perplexity (words of the first reference, and one for its end)");
  command->add_option("--train", options->train,
                      "chat: the training replies; gives the most frequent one and random ones to compare with");
  command->add_option("--seed", options->seed, "chat: of the random replies (1)");
  command->add_option("--contexts", options->contexts, "chat: the contexts of the lines that are scored");
  command->add_option("--train-contexts", options->train_contexts,
                      "chat: the training contexts; gives how many of --contexts are among them");
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--width", options->width, "decimals (2)")->check(CLI::Range(0, 12));
  add_color_option(*command, options->color);
  command->callback([options, streams] { evaluate(*options, streams); });
}

}  // namespace fovea::cli
