// fovea explain [SENTENCE] [--tokens A,B,…] [--dim D] [--heads H] [--seed S] [--causal] [--embeddings FILE.safetensors]
//               [--html FILE] [--svg FILE] [--color auto|always|never]
// fovea explain --scores 7,5,4,9,11 [--dim D] [--html FILE]
// fovea explain --model DIR SENTENCE [--kind K] [--layer L] [--head H] [--query I] [--key J] [--target TEXT]
//               [--numbers FILE.safetensors] [--html FILE] [--svg FILE]
//
// A self-attention worked out in numbers, step by step; with --model a trained model's own. FILE.safetensors holds X
// [tokens, D], W_Q and W_K [D, heads * d], W_V [D, heads * dv] and, if wanted, W_O [heads * dv, any].
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/inspect/explain_model.hpp"
#include "cli/io/outputs.hpp"
#include "cli/io/terminal.hpp"
#include "cli/options/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "view/lesson/lesson.hpp"
#include "view/svg.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

constexpr const char* kSentence = "看小猫，它好可爱";
// Of the made-up numbers, one choice with which 它 (it) attends to 小猫 (kitten), as a trained model's would.
constexpr std::uint64_t kSeed = 115947;
// More cannot be read.
constexpr std::int64_t kMostTokens = 64;
constexpr std::int64_t kMostDims = 64;
constexpr std::size_t kMostScores = 256;
constexpr int kUsualWidth = 4;  // numbers per word

struct ExplainOptions {
  ExplainModelOptions model;
  std::string sentence;
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::optional<int> dim;
  int heads = 1;
  std::uint64_t seed = kSeed;
  bool causal = false;
  std::string embeddings;
  std::string html;
  std::string svg;
  std::string color = "auto";
  std::string language;  // empty: that of the sentence
};

AttentionMatrix load(const Safetensors& file, const std::string& path, const char* name) {
  if (!file.contains(name)) throw FileError(fmt::format("{}: has no tensor {}", path, name));
  const Shape shape = file.entry(name).shape;
  if (shape.rank() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > kMostDims || shape[1] > kMostDims) {
    throw FileError(fmt::format("{}: {} is {}, but must be a matrix of 1 to {} rows and columns", path, name,
                                shape.text(), kMostDims));
  }
  const Tensor values = file.tensor(name).contiguous();
  AttentionMatrix matrix{shape[0], shape[1], {values.values().begin(), values.values().end()}};
  for (const float value : matrix.values) {
    if (!std::isfinite(value)) throw FileError(fmt::format("{}: {} holds {}", path, name, value));
  }
  return matrix;
}

view::WorkedInput load_input(const ExplainOptions& options, std::vector<std::string> tokens) {
  const Safetensors file(options.embeddings);
  view::WorkedInput in;
  in.x = load(file, options.embeddings, "X");
  in.w_q = load(file, options.embeddings, "W_Q");
  in.w_k = load(file, options.embeddings, "W_K");
  in.w_v = load(file, options.embeddings, "W_V");
  if (file.contains("W_O")) in.w_o = load(file, options.embeddings, "W_O");
  in.heads = options.heads;
  // Without words of their own the rows are numbered, unless they are as many as the default sentence's words.
  const bool asked = !options.sentence.empty() || !options.tokens.empty();
  if (!asked && in.x.rows != static_cast<std::int64_t>(tokens.size())) {
    tokens.clear();
    for (std::int64_t i = 0; i < in.x.rows; ++i) tokens.push_back(fmt::format("x{}", i + 1));
  }
  if (in.x.rows != static_cast<std::int64_t>(tokens.size())) {
    throw UsageError(
        fmt::format("--embeddings {}: X has {} rows for {} tokens", options.embeddings, in.x.rows, tokens.size()));
  }
  in.tokens = std::move(tokens);
  return in;
}

view::Lesson explain_sentence(const ExplainOptions& options) {
  std::vector<std::string> tokens = options.tokens;
  if (tokens.empty()) tokens = view::words_of(options.sentence.empty() ? kSentence : options.sentence);
  for (const std::string& token : tokens) {
    if (token.empty()) throw UsageError("--tokens: a token is empty");
  }
  if (tokens.empty()) throw UsageError("SENTENCE has no words");
  if (static_cast<std::int64_t>(tokens.size()) > kMostTokens) {
    throw UsageError(fmt::format("{} tokens: a worked example is to be read, at most {}", tokens.size(), kMostTokens));
  }
  const view::LessonLanguage language =
      options.language.empty() ? view::language_of(options.sentence) : view::lesson_language(options.language);
  const bool chinese = language == view::LessonLanguage::chinese;
  std::string origin;
  view::WorkedInput in;
  if (!options.embeddings.empty()) {
    if (options.dim) throw UsageError("--dim: with --embeddings the file says it");
    in = load_input(options, tokens);
    origin = (chinese ? "数值来自 " : "numbers from ") + options.embeddings;
  } else {
    const int dim = options.dim.value_or(std::max(kUsualWidth, 2 * options.heads));
    if (dim < 1 || dim > kMostDims || dim % options.heads != 0) {
      throw UsageError(
          fmt::format("--dim {}: must be 1 to {} and a multiple of the {} heads", dim, kMostDims, options.heads));
    }
    in = view::made_up_input(tokens, dim, options.heads, options.seed);
    origin = (chinese ? "编造的数，种子 " : "made-up numbers, seed ") + std::to_string(options.seed);
    if (!options.dim && dim != kUsualWidth) {
      origin += chinese ? fmt::format("；宽度取 {}，使每个头有 {} 个数", dim, dim / options.heads)
                        : fmt::format("; the width is {} so that each head has {} numbers", dim, dim / options.heads);
    }
  }
  in.causal = options.causal;
  std::string sentence = options.tokens.empty() ? options.sentence : fmt::format("{}", fmt::join(tokens, " "));
  if (sentence.empty())
    sentence = options.embeddings.empty() ? kSentence : fmt::format("{}", fmt::join(in.tokens, " "));
  return view::lesson(view::work(in), {sentence, origin}, language);
}

view::Lesson explain_scores(const ExplainOptions& options) {
  if (!options.sentence.empty() || !options.tokens.empty() || !options.embeddings.empty() || !options.svg.empty() ||
      options.heads != ExplainOptions{}.heads || options.seed != ExplainOptions{}.seed || options.causal) {
    throw UsageError("--scores: goes with --dim, --html and --color only");
  }
  if (options.scores.size() > kMostScores) throw UsageError(fmt::format("--scores: at most {}", kMostScores));
  for (const float score : options.scores) {
    if (!std::isfinite(score)) throw UsageError(fmt::format("--scores: {} is not a finite number", score));
  }
  return view::lesson(view::work_scores(options.scores, options.dim.value_or(0)),
                      view::lesson_language(options.language.empty() ? "en" : options.language));
}

view::Lesson explain_trained(const ExplainOptions& options) {
  if (!options.scores.empty() || !options.tokens.empty() || !options.embeddings.empty() || options.dim ||
      options.heads != ExplainOptions{}.heads || options.seed != ExplainOptions{}.seed || options.causal) {
    throw UsageError(
        "--model: the model has its own tokens and sizes; leave out --tokens, --dim, --heads, --seed, "
        "--causal, --embeddings and --scores");
  }
  if (options.sentence.empty()) throw UsageError("SENTENCE: with --model, the line that the model shall read");
  ExplainModelOptions model = options.model;
  model.sentence = options.sentence;
  if (!options.language.empty()) model.language = view::lesson_language(options.language);
  return explain_model(model);
}

void explain(const ExplainOptions& options, const Streams& streams) {
  if (options.dim && *options.dim < 1) throw UsageError(fmt::format("--dim {}: must be at least 1", *options.dim));
  check_outputs_differ({{"--html", &options.html}, {"--svg", &options.svg}, {"--numbers", &options.model.numbers}});
  const view::Lesson lesson = !options.model.model.empty() ? explain_trained(options)
                              : options.scores.empty()     ? explain_sentence(options)
                                                           : explain_scores(options);
  const AttentionRecord& picture = lesson.picture;
  const std::string page = options.html.empty() ? "" : view::lesson_page(lesson);
  const std::string drawing = options.svg.empty() ? ""
                                                  : view::svg_document({view::svg_ribbon(picture, picture.weights),
                                                                        view::svg_heat_map(picture, picture.weights)},
                                                                       lesson.title, lesson.closing);
  write_whole_files({{options.html, page}, {options.svg, drawing}});
  if (options.html.empty() && options.svg.empty()) {
    streams.out << view::lesson_text(lesson, terminal_style(streams.out, options.color));
  }
}

}  // namespace

void add_explain(CLI::App& app, const Streams& streams) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand("explain", "work out a self-attention in numbers, step by step");
  command->add_option("SENTENCE", options->sentence, "default: 看小猫，它好可爱");
  command->add_option("--tokens", options->tokens, "the words, instead of a sentence: a,b,c")
      ->delimiter(',')
      ->excludes("SENTENCE");
  command->add_option(
      "--dim", options->dim,
      "numbers per word (default 4, or 2 for each head); with --scores the width whose root divides them");
  command->add_option("--heads", options->heads, "heads (default 1)")->check(CLI::Range(1, 16));
  command->add_option("--seed", options->seed, "of the made-up numbers")->check(whole_number());
  command->add_option("--embeddings", options->embeddings, ".safetensors with X, W_Q, W_K, W_V and perhaps W_O");
  command->add_flag("--causal", options->causal, "words attend only to themselves and earlier ones");
  command->add_option("--scores", options->scores, "only the weights for these scores: 7,5,4,9,11")
      ->delimiter(',')
      ->check([](const std::string& text) { return text.empty() ? std::string("no score is given") : std::string(); });
  command->add_option("--html", options->html, "write a page, one file with everything in it");
  command->add_option("--svg", options->svg, "write the weights as a picture");
  ExplainModelOptions& m = options->model;
  auto* model = command->add_option("--model", m.model, "a trained model: its own numbers for SENTENCE");
  command->add_option("--kind", m.kind, "which attention of the model: " + attention_kind_names())->needs(model);
  command->add_option("--layer", m.layer, "of the model, counted from 0")->check(whole_number(1000))->needs(model);
  command->add_option("--head", m.head, "of the layer, counted from 0")->check(whole_number(1000))->needs(model);
  command->add_option("--query", m.query, "position whose sums are written out, counted from 0; default: the strongest")
      ->check(whole_number(1000000))
      ->needs(model);
  command->add_option("--key", m.key, "what it attends to, counted from 0")->check(whole_number(1000000))->needs(model);
  command->add_option("--target", m.target, "an output of your own instead of the model's")
      ->type_name("SENTENCE")
      ->needs(model);
  command->add_option("--numbers", m.numbers, "file for every number of the run, by name (.safetensors)")->needs(model);
  command->add_option("--language", options->language, "of the words: en or zh; default: zh for a Chinese sentence")
      ->check(CLI::IsMember({"en", "zh"}));
  add_color_option(*command, options->color);
  command->callback([options, &streams] { explain(*options, streams); });
}

}  // namespace fovea::cli
