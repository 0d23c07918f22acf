// What each --metric computes.
#include <fmt/format.h>

#include <map>

#include "cli/evaluate/figure.hpp"

namespace fovea::cli {
namespace {

// A file with tabs holds several references a line; the others are sets of their own.
std::vector<Figure> measure_captions(const Lines& captions, const References& files,
                                     std::optional<MetricTokenizer> tokenize) {
  References references;
  for (const Lines& file : files) {
    for (Lines& one : split_references(file)) references.push_back(std::move(one));
  }
  const CaptionFigures result = caption_figures(captions, references, tokenize);
  std::vector<Figure> out;
  for (std::size_t n = 0; n < result.bleu.size(); ++n) out.push_back({fmt::format("BLEU-{}", n + 1), result.bleu[n]});
  out.push_back({"ROUGE-L", result.rouge_l});
  out.push_back({"CIDEr-D", result.cider, "",
                 captions.size() == 1 ? "(always 0 for one picture: its words are in every reference)" : ""});
  return out;
}

}  // namespace

std::optional<MetricTokenizer> EvaluateOptions::tokenizer() const {
  if (tokenize.empty()) return {};
  return metric_tokenizer(tokenize);
}

std::vector<Figure> measure(const std::string& metric, const Lines& hypotheses, const References& references,
                            const EvaluateOptions& options, const view::TerminalStyle& style) {
  const std::optional<MetricTokenizer> tokenize = options.tokenizer();
  if (metric == "classification") return measure_classification(hypotheses, references, options, style);
  if (metric == "caption") return measure_captions(hypotheses, references, tokenize);
  if (metric == "chat") return measure_chat(hypotheses, references, options);
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
    const Rouge result = rouge(hypotheses, references, {.tokenize = tokenize, .stem = options.stem});
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

}  // namespace fovea::cli
