// fovea explain [SENTENCE] [--tokens A,B,…] [--dim D] [--heads H] [--seed S] [--causal] [--embeddings FILE.safetensors]
//               [--html FILE] [--svg FILE] [--color auto|always|never]
// fovea explain --scores 7,5,4,9,11 [--dim D] [--html FILE]
// fovea explain --model DIR SENTENCE [--kind K] [--layer L] [--head H] [--query I] [--key J] [--target TEXT]
//               [--numbers FILE.safetensors] [--html FILE] [--svg FILE]
//
// Self-attention worked out in numbers, step by step; with --model a trained model's own. FILE.safetensors holds X
// [tokens, D], W_Q and W_K [D, heads * d], W_V [D, heads * dv] and optionally W_O [heads * dv, any].
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
#include "view/lesson/worked_lesson.hpp"
#include "view/svg/svg.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

constexpr const char* kSentence = "看小猫，它好可爱";
// A seed with which 它 (it) attends to 小猫 (kitten), as in a trained model.
constexpr std::uint64_t kSeed = 115947;
// Larger tables are not readable.
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
  // Rows without given words are numbered, unless there are as many as words in the default sentence.
  const bool given = !options.sentence.empty() || !options.tokens.empty();
  if (!given && in.x.rows != static_cast<std::int64_t>(tokens.size())) {
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

// The tokens of a sentence, or those that were given.
std::vector<std::string> tokens_to_explain(const ExplainOptions& options) {
  std::vector<std::string> tokens = options.tokens;
  if (tokens.empty()) tokens = view::words_of(options.sentence.empty() ? kSentence : options.sentence);
  for (const std::string& token : tokens) {
    if (token.empty()) throw UsageError("--tokens: a token is empty");
  }
  if (tokens.empty()) throw UsageError("SENTENCE: has no words");
  if (static_cast<std::int64_t>(tokens.size()) > kMostTokens) {
    throw UsageError(fmt::format("SENTENCE: has {} tokens, must have at most {}", tokens.size(), kMostTokens));
  }
  return tokens;
}

// Made-up numbers, and the message that says so.
std::pair<view::WorkedInput, view::Message> made_up(const ExplainOptions& options,
                                                    const std::vector<std::string>& tokens) {
  const int dim = options.dim.value_or(std::max(kUsualWidth, 2 * options.heads));
  if (dim < 1 || dim > kMostDims || dim % options.heads != 0) {
    throw UsageError(
        fmt::format("--dim {}: must be 1 to {} and a multiple of --heads {}", dim, kMostDims, options.heads));
  }
  const bool wider = !options.dim && dim != kUsualWidth;
  return {view::made_up_input(tokens, dim, options.heads, options.seed),
          view::Message::of(wider ? "origin.wider" : "origin.made_up",
                            {{"seed", options.seed}, {"width", dim}, {"each", dim / options.heads}})};
}

view::Lesson explain_sentence(const ExplainOptions& options) {
  const std::vector<std::string> tokens = tokens_to_explain(options);
  const bool from_file = !options.embeddings.empty();
  if (from_file && options.dim) throw UsageError("--dim: cannot be combined with --embeddings, which sets the width");
  auto [in, origin] = from_file ? std::pair{load_input(options, tokens),
                                            view::Message::of("origin.file", {{"file", options.embeddings}})}
                                : made_up(options, tokens);
  in.causal = options.causal;
  std::string sentence = options.tokens.empty() ? options.sentence : fmt::format("{}", fmt::join(tokens, " "));
  if (sentence.empty()) sentence = from_file ? fmt::format("{}", fmt::join(in.tokens, " ")) : kSentence;
  view::Lesson lesson = view::self_attention_lesson(view::work(in), sentence, origin);
  lesson.language =
      options.language.empty() ? view::language_of(options.sentence) : view::lesson_language(options.language);
  return lesson;
}

view::Lesson explain_scores(const ExplainOptions& options) {
  if (!options.sentence.empty() || !options.tokens.empty() || !options.embeddings.empty() || !options.svg.empty() ||
      options.heads != ExplainOptions{}.heads || options.seed != ExplainOptions{}.seed || options.causal) {
    throw UsageError("--scores: can be combined with --dim, --html, --language and --color only");
  }
  if (options.scores.size() > kMostScores) {
    throw UsageError(fmt::format("--scores: must be at most {}, are {}", kMostScores, options.scores.size()));
  }
  for (const float score : options.scores) {
    if (!std::isfinite(score)) throw UsageError(fmt::format("--scores: must be finite, one is {}", score));
  }
  view::Lesson lesson = view::scores_lesson(view::work_scores(options.scores, options.dim.value_or(0)));
  if (!options.language.empty()) lesson.language = view::lesson_language(options.language);
  return lesson;
}

view::Lesson explain_trained(const ExplainOptions& options) {
  if (!options.scores.empty() || !options.tokens.empty() || !options.embeddings.empty() || options.dim ||
      options.heads != ExplainOptions{}.heads || options.seed != ExplainOptions{}.seed || options.causal) {
    throw UsageError(
        "--model: the model has its own tokens and sizes; leave out --tokens, --dim, --heads, --seed, "
        "--causal, --embeddings and --scores");
  }
  if (options.sentence.empty()) throw UsageError("SENTENCE: is required with --model: the line that the model reads");
  ExplainModelOptions model = options.model;
  model.sentence = options.sentence;
  if (!options.language.empty()) model.language = view::lesson_language(options.language);
  return explain_model(model);
}

std::string drawing_of(const view::Lesson& lesson) {
  const view::LessonWords words(lesson.language);
  const AttentionRecord& picture = lesson.picture;
  return view::svg_document({view::svg_ribbon(picture, picture.weights), view::svg_heat_map(picture, picture.weights)},
                            words(lesson.title), words(lesson.closing));
}

void explain(const ExplainOptions& options, const Streams& streams) {
  if (options.dim && *options.dim < 1) throw UsageError(fmt::format("--dim: must be at least 1, is {}", *options.dim));
  check_outputs_differ({{"--html", &options.html}, {"--svg", &options.svg}, {"--numbers", &options.model.numbers}});
  const view::Lesson lesson = !options.model.model.empty() ? explain_trained(options)
                              : options.scores.empty()     ? explain_sentence(options)
                                                           : explain_scores(options);
  write_whole_files({{options.html, options.html.empty() ? "" : view::lesson_page(lesson)},
                     {options.svg, options.svg.empty() ? "" : drawing_of(lesson)}});
  if (options.html.empty() && options.svg.empty()) {
    streams.out << view::lesson_text(lesson, terminal_style(streams.out, options.color));
  }
}

}  // namespace

void add_explain(CLI::App& app, const Streams& streams) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand("explain", "work out self-attention in numbers, step by step");
  command->add_option("SENTENCE", options->sentence, "default: 看小猫，它好可爱");
  command->add_option("--tokens", options->tokens, "the tokens, instead of a sentence: a,b,c")
      ->delimiter(',')
      ->excludes("SENTENCE");
  command->add_option("--dim", options->dim,
                      "numbers per word (default 4, or 2 per head); with --scores the width d of √d");
  command->add_option("--heads", options->heads, "number of heads (default 1)")->check(CLI::Range(1, 16));
  command->add_option("--seed", options->seed, "seed of the made-up numbers")->check(whole_number());
  command->add_option("--embeddings", options->embeddings, ".safetensors with X, W_Q, W_K, W_V and optionally W_O");
  command->add_flag("--causal", options->causal, "each word attends only to itself and to earlier words");
  command->add_option("--scores", options->scores, "the softmax of these scores, instead of a sentence: 7,5,4,9,11")
      ->delimiter(',')
      ->check([](const std::string& text) {
        return text.empty() ? std::string("must hold at least one score") : std::string();
      });
  command->add_option("--html", options->html, "write a self-contained page");
  command->add_option("--svg", options->svg, "write the weights as an SVG picture");
  ExplainModelOptions& m = options->model;
  auto* model =
      command->add_option("--model", m.model, "model folder: show the numbers of this trained model for SENTENCE");
  command->add_option("--kind", m.kind, "kind of attention: " + attention_kind_names())->needs(model);
  command->add_option("--layer", m.layer, "layer, counted from 0")->check(whole_number(1000))->needs(model);
  command->add_option("--head", m.head, "head of the layer, counted from 0")->check(whole_number(1000))->needs(model);
  command
      ->add_option(
          "--query", m.query,
          "position of the query whose sums are written out, counted from 0 (default: that of the largest weight)")
      ->check(whole_number(1000000))
      ->needs(model);
  command->add_option("--key", m.key, "position of the key, counted from 0")
      ->check(whole_number(1000000))
      ->needs(model);
  command->add_option("--target", m.target, "output to explain instead of the model's own")
      ->type_name("SENTENCE")
      ->needs(model);
  command->add_option("--numbers", m.numbers, "file for every array of the run, by name (.safetensors)")->needs(model);
  command
      ->add_option("--language", options->language,
                   "language of the explanations: en or zh (default: zh for a Chinese sentence)")
      ->check(CLI::IsMember({"en", "zh"}));
  add_color_option(*command, options->color);
  command->callback([options, &streams] { explain(*options, streams); });
}

}  // namespace fovea::cli
