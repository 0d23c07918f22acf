// fovea evaluate --hypothesis FILE --reference FILE… --metric bleu|chrf|chrf++|ter|rouge|accuracy|wer…
//                [--lowercase] [--tokenize 13a|zh|char|none] [--smoothing exp|floor|add-k|none] [--json] [--width N]
//
// One line per figure: the number, a tab, the metric's name with its signature, and where there is more to say a tab
// and the details. --json prints an object, or an array of them when there are several figures. All in percent.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/command.hpp"
#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "text/lines.hpp"

namespace fovea::cli {
namespace {

struct EvaluateOptions {
  std::string hypothesis;
  std::vector<std::string> references;
  std::vector<std::string> metrics{"bleu"};
  std::string tokenize;  // empty: each metric's own
  std::string smoothing = "exp";
  bool lowercase = false;
  bool json = false;
  int width = 2;
};

struct Figure {
  std::string name;
  double score = 0;
  std::string signature{};
  std::string details{};
};

std::vector<Figure> measure(const std::string& metric, const Lines& hypotheses, const References& references,
                            const EvaluateOptions& options) {
  std::optional<MetricTokenizer> tokenize;
  if (!options.tokenize.empty()) tokenize = metric_tokenizer(options.tokenize);
  if (metric == "bleu") {
    static const std::map<std::string, BleuOptions::Smoothing> smoothings{{"exp", BleuOptions::Smoothing::exponential},
                                                                          {"floor", BleuOptions::Smoothing::floor},
                                                                          {"add-k", BleuOptions::Smoothing::add_k},
                                                                          {"none", BleuOptions::Smoothing::none}};
    const Bleu result = bleu(hypotheses, references,
                             {.tokenize = tokenize.value_or(MetricTokenizer::mteval_13a),
                              .lowercase = options.lowercase,
                              .smoothing = smoothings.at(options.smoothing)});
    return {{"BLEU", result.score, result.signature, result.details()}};
  }
  if (metric == "chrf" || metric == "chrf++") {
    const Chrf result =
        chrf(hypotheses, references, {.word_order = metric == "chrf++" ? 2 : 0, .lowercase = options.lowercase});
    return {{result.name, result.score, result.signature}};
  }
  if (metric == "ter") {
    const Ter result = ter(hypotheses, references);
    return {{"TER", result.score, result.signature,
             fmt::format("({} edits, {:.10g} reference words)", result.edits, result.reference_words)}};
  }
  if (metric == "rouge") {
    const Rouge result = rouge(hypotheses, references, {.tokenize = tokenize});
    const auto figure = [](const char* name, const Rouge::Figure& f) {
      return Figure{name, f.f1, "", fmt::format("(precision = {:.2f} recall = {:.2f})", f.precision, f.recall)};
    };
    return {figure("ROUGE-1", result.rouge_1), figure("ROUGE-2", result.rouge_2), figure("ROUGE-L", result.rouge_l)};
  }
  if (metric == "accuracy") return {{"accuracy", exact_match(hypotheses, references, options.lowercase)}};
  const WordErrors result =
      word_errors(hypotheses, references, tokenize.value_or(MetricTokenizer::none), options.lowercase);
  return {
      {"WER", result.score, "", fmt::format("({} errors, {} reference words)", result.edits, result.reference_words)}};
}

nlohmann::ordered_json to_json(const Figure& figure, int width) {
  const double scale = std::pow(10.0, width);
  nlohmann::ordered_json out{{"name", figure.name}, {"score", std::round(figure.score * scale) / scale}};
  if (!figure.signature.empty()) out["signature"] = figure.signature;
  if (!figure.details.empty()) out["verbose_score"] = figure.details;
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

void evaluate(const EvaluateOptions& options, const Streams& streams) {
  const Lines hypotheses = text::read_lines(options.hypothesis);
  References references;
  for (const std::string& path : options.references) {
    references.push_back(text::read_lines(path));
    if (references.back().size() != hypotheses.size()) {
      throw FileError(
          fmt::format("{} has {} lines but {} has {}; each line of one must answer the same line of the other",
                      options.hypothesis, hypotheses.size(), path, references.back().size()));
    }
  }
  if (hypotheses.empty()) {
    throw FileError(fmt::format("{} and {} hold no lines to compare", options.hypothesis, options.references.front()));
  }
  std::vector<Figure> figures;
  for (const std::string& metric : options.metrics) {
    for (Figure& figure : measure(metric, hypotheses, references, options)) figures.push_back(std::move(figure));
  }
  if (options.json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Figure& figure : figures) out.push_back(to_json(figure, options.width));
    streams.out << (out.size() == 1 ? out[0] : out).dump(1) << '\n';
    return;
  }
  for (const Figure& figure : figures) {
    streams.out << fmt::format("{:.{}f}\t{}", figure.score, options.width, figure.name);
    if (!figure.signature.empty()) streams.out << '|' << figure.signature;
    if (!figure.details.empty()) streams.out << '\t' << figure.details;
    streams.out << '\n';
  }
}

}  // namespace

void add_evaluate(CLI::App& app, const Streams& streams) {
  auto* command = app.add_subcommand("evaluate", "score output lines against reference lines");
  const auto options = std::make_shared<EvaluateOptions>();
  command->add_option("--hypothesis", options->hypothesis, "the lines to score, plain or .gz")->required();
  command->add_option("--reference", options->references, "the lines they should be; several files may be given")
      ->required();
  command->add_option("--metric", options->metrics, "what to measure; may be given several times (bleu)")
      ->check(CLI::IsMember({"bleu", "chrf", "chrf++", "ter", "rouge", "accuracy", "wer"}));
  command->add_option("--tokenize", options->tokenize, "how words are found for bleu (13a), wer (none) and rouge")
      ->check(CLI::IsMember({"13a", "zh", "char", "none"}));
  command->add_option("--smoothing", options->smoothing, "what bleu does about n-grams never met (exp)")
      ->check(CLI::IsMember({"exp", "floor", "add-k", "none"}));
  command->add_flag("--lowercase", options->lowercase, "ignore case; ter and rouge always do");
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--width", options->width, "decimals (2)")->check(CLI::Range(0, 12));
  command->callback([options, streams] { evaluate(*options, streams); });
}

}  // namespace fovea::cli
