// --metric chat: the replies, compared with a model that does not read the context.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numeric>

#include "cli/evaluate/figure.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"
#include "text/unicode.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

// A number per line of a file that has as many lines as the replies. `fits` says whether a number is possible.
template <class Number, class Fits>
std::vector<Number> read_numbers(const std::string& path, const std::string& replies_path, const Lines& replies,
                                 const char* what, Fits fits) {
  const Lines lines = text::read_lines(path);
  check_same_lines(replies_path, replies, path, lines);
  std::vector<Number> out;
  for (const std::string& line : lines) {
    const std::string_view inside = text::trim(line);
    Number value{};
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), value);
    if (error != std::errc() || end != inside.data() + inside.size() || !fits(value)) {
      throw FileError(fmt::format("{}:{}: '{}' is not {}", path, out.size() + 1, view::label(inside, 40), what));
    }
    out.push_back(value);
  }
  return out;
}

Figure perplexity_figure(const Lines& replies, const References& references, const EvaluateOptions& options) {
  const auto log_probabilities =
      read_numbers<double>(options.log_probabilities, options.hypothesis, replies, "a log-probability, at most 0",
                           [](double value) { return value <= 0 && std::isfinite(value); });
  std::vector<std::int64_t> tokens;
  if (!options.token_counts.empty()) {
    tokens = read_numbers<std::int64_t>(options.token_counts, options.hypothesis, replies, "a token count, 1 or more",
                                        [](std::int64_t value) { return value > 0; });
  } else {
    for (const std::string& line : references[0]) {
      const auto words = metric_words(line, options.tokenizer().value_or(MetricTokenizer::none));
      tokens.push_back(static_cast<std::int64_t>(words.size()) + 1);
    }
  }
  const std::string counted = options.token_counts.empty() ? "words of the first reference and ends of lines"
                                                           : "tokens of " + options.token_counts;
  return {"perplexity", perplexity(log_probabilities, tokens), "",
          fmt::format("({:.0f} {})", std::accumulate(tokens.begin(), tokens.end(), 0.0), counted)};
}

// F1, distinct-1, distinct-2 and BLEU, `of` whom in the names.
void add_figures(std::vector<Figure>& out, const std::string& of, const Lines& replies, const References& references,
                 const EvaluateOptions& options, const std::string& details = {}) {
  const ChatFigures result = chat_figures(replies, references, options.tokenizer());
  out.push_back({"F1" + of, result.f1, "", details});
  out.push_back({"distinct-1" + of, result.distinct_1});
  out.push_back({"distinct-2" + of, result.distinct_2});
  const Bleu words =
      bleu(replies, references,
           {.tokenize = options.tokenizer().value_or(MetricTokenizer::mteval_13a), .lowercase = options.lowercase});
  out.push_back({"BLEU" + of, words.score, words.signature, words.details()});
}

}  // namespace

std::vector<Figure> measure_chat(const Lines& replies, const References& references, const EvaluateOptions& options) {
  std::vector<Figure> out;
  add_figures(out, "", replies, references, options);
  if (!options.log_probabilities.empty()) out.push_back(perplexity_figure(replies, references, options));
  if (!options.train.empty()) {
    const Lines train = text::read_lines(options.train);
    if (train.empty()) throw FileError(options.train + " holds no replies");
    const FrequentLine frequent = most_frequent_line(train);
    add_figures(out, " of the most frequent training reply", Lines(replies.size(), frequent.line), references, options,
                fmt::format("(\"{}\", {} of {} lines)", view::label(frequent.line, 60), frequent.count, train.size()));
    add_figures(out, " of random training replies", random_lines(train, replies.size(), options.seed), references,
                options, fmt::format("(seed {})", options.seed));
  }
  if (!options.contexts.empty()) {
    const Lines contexts = text::read_lines(options.contexts);
    check_same_lines(options.hypothesis, replies, options.contexts, contexts);
    const std::int64_t shared = count_shared_lines(contexts, text::read_lines(options.train_contexts));
    out.push_back({"contexts also in training", 100 * static_cast<double>(shared) / static_cast<double>(replies.size()),
                   "", fmt::format("({} of {} lines)", shared, replies.size())});
  }
  return out;
}

}  // namespace fovea::cli
