#include "view/lesson/model_lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"

namespace fovea::view {
namespace {

std::string list_of(const std::vector<std::string>& tokens) {
  constexpr std::size_t most = 60;
  std::string out;
  for (std::size_t i = 0; i < tokens.size() && i < most; ++i) out += (i > 0 ? " | " : "") + tokens[i];
  if (tokens.size() > most) out += fmt::format(" | … and {} more", tokens.size() - most);
  return out;
}

bool has_kind(const ModelRun& run, AttentionKind kind) {
  return std::any_of(run.attention.maps.begin(), run.attention.maps.end(),
                     [kind](const AttentionMap& map) { return map.kind == kind; });
}

bool decodes_by_rnn(const ModelRun& run) {
  const auto* generator = std::get_if<GeneratorConfig>(&run.config.head);
  return generator != nullptr && std::holds_alternative<RnnDecoderConfig>(generator->decoder);
}

// The kinds there are, for errors.
std::string kinds_of(const ModelRun& run) {
  std::string names;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (has_kind(run, info.kind)) names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names.empty() ? "none" : names;
}

}  // namespace

LessonStep tokens_step(const ModelRun& run) {
  const bool classifies = std::holds_alternative<ClassifierConfig>(run.config.head);
  LessonStep step;
  step.title = "The line and its tokens";
  if (run.config.task() == Task::complete) {
    step.text = fmt::format(
        "The model goes on with “{}”: “{}”. It reads {} tokens, each with those before it, and at "
        "each says what comes next.",
        run.input, run.output, run.target.size());
    step.examples.push_back("next: " + list_of(run.target));
    return step;
  }
  step.text = fmt::format("“{}” is cut into {} tokens, the end of sequence among them; the model {} “{}”.", run.input,
                          run.source.size(), classifies ? "calls it" : "writes", run.output);
  step.examples.push_back("source: " + list_of(run.source));
  step.examples.push_back((classifies ? "label: " : "target: ") + list_of(run.target));
  return step;
}

LessonStep next_step(const ModelRun& run, std::int64_t at) {
  const auto& candidates = run.next.at(static_cast<std::size_t>(at));
  NumberTable table;
  table.name = "p";
  table.numbers = {1, static_cast<std::int64_t>(candidates.size()), {}};
  double rest = 1;
  for (const Candidate& one : candidates) {
    table.column_labels.push_back(one.text);
    table.numbers.values.push_back(std::exp(one.log_probability));
    rest -= std::exp(static_cast<double>(one.log_probability));
  }
  table.decimals = 4;
  table.weights = true;
  const Tensor* logits = run.trace.find("output.logits");
  table.note = fmt::format("the likeliest of {}; all others together {}", logits != nullptr ? logits->dim(-1) : 0,
                           shown_number(std::max(0.0, rest), 4));
  const bool classifies = std::holds_alternative<ClassifierConfig>(run.config.head);
  LessonStep step{classifies ? "The label" : fmt::format("The next word: token {} of the output", at + 1),
                  "p = softmax(state W + b)",
                  "The output layer gives every token of the vocabulary a number, and softmax turns them into "
                  "probabilities.",
                  {table},
                  {}};
  if (classifies) step.text = "The output layer gives every label a number, and softmax turns them into probabilities.";
  step.examples.push_back(fmt::format("chosen: {}", run.target.at(static_cast<std::size_t>(at))));
  return step;
}

LessonStep window_step(const ModelRun& run, const std::string& side, int layer, std::int64_t at) {
  const std::string name = fmt::format("{}.{}", side, layer);
  const AttentionMatrix in = matrix_of(run.trace.at(name + ".input"));
  const AttentionMatrix out = matrix_of(run.trace.at(name + ".convolution"));
  const bool decodes = side == "decoder";
  const CnnConfig& config =
      decodes ? std::get<CnnConfig>(run.config.generator().decoder) : std::get<CnnConfig>(run.config.encoder);
  const std::int64_t first = decodes ? at - config.kernel + 1 : at - config.kernel / 2;
  std::vector<std::string> tokens = decodes ? run.target : run.source;
  if (decodes) {
    tokens.insert(tokens.begin(), "<s>");
    tokens.pop_back();
  }
  NumberTable window;
  window.name = "window";
  window.numbers = {config.kernel, in.columns, {}};
  window.decimals = 3;
  for (std::int64_t i = first; i < first + config.kernel; ++i) {
    const bool inside = i >= 0 && i < in.rows;
    window.row_labels.push_back(inside ? tokens[static_cast<std::size_t>(i)] : "(none: zeros)");
    for (std::int64_t c = 0; c < in.columns; ++c) {
      window.numbers.values.push_back(inside ? in.at(i, c) : 0.0F);
    }
  }
  NumberTable result;
  result.name = "y";
  result.decimals = 3;
  result.row_labels = {tokens[static_cast<std::size_t>(at)]};
  const std::vector<double> row = row_of(out, at);
  result.numbers = {1, out.columns, {row.begin(), row.end()}};
  return {
      fmt::format("The {}'s window in layer {}", side, layer),
      "y = (window W₁ + b₁) · σ(window W₂ + b₂)",
      fmt::format("A convolution of width {} reads {} tokens at a time{}; one half of its numbers opens and closes the "
                  "other (a gated linear unit). Layer by layer the window grows.",
                  config.kernel, config.kernel, decodes ? ", none of them later" : ""),
      {folded(std::move(window)), folded(std::move(result))},
      {}};
}

std::string softmax_example(const std::string& name, const std::vector<double>& scores, std::int64_t at, double weight,
                            int decimals) {
  constexpr std::size_t most = 16;
  double top = -INFINITY;
  for (const double s : scores) top = std::max(top, s);
  double sum = 0;
  for (const double s : scores) sum += std::exp(s - top);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  const std::size_t left_out = order.size() > most ? order.size() - most : 0;
  order.resize(order.size() - left_out);
  std::sort(order.begin(), order.end());
  std::string terms;
  double told = 0;
  for (const std::size_t i : order) {
    terms += (terms.empty() ? "e^" : " + e^") + shown_number(scores[i] - top, decimals);
    told += std::exp(scores[i] - top);
  }
  if (left_out > 0) terms += fmt::format(" + {} ({} smaller ones)", shown_number(sum - told, 4), left_out);
  const double mine = scores[static_cast<std::size_t>(at)];
  return fmt::format("{} = e^({} − {}) / ({}) = {} / {} = {}", name, shown_number(mine, decimals),
                     top < 0 ? fmt::format("({})", shown_number(top, decimals)) : shown_number(top, decimals), terms,
                     shown_number(std::exp(mine - top), 4), shown_number(sum, 4), shown_number(weight, 4));
}

ChosenPair chosen_pair(const AttentionMatrix& weights, const ModelLessonOptions& options, bool same_side) {
  const auto check = [](const char* field, const std::optional<std::int64_t>& given, std::int64_t count) {
    if (given && (*given < 0 || *given >= count)) {
      throw UsageError(fmt::format("{}: {} given, there are positions 0 to {}", field, *given, count - 1));
    }
  };
  check("query", options.query, weights.rows);
  check("key", options.key, weights.columns);
  ChosenPair best{options.query.value_or(0), options.key.value_or(0)};
  if (options.query && options.key) return best;
  float most = -1;
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    if (options.query && i != *options.query) continue;
    for (std::int64_t j = 0; j < weights.columns; ++j) {
      if (options.key && j != *options.key) continue;
      if ((same_side && i == j && weights.rows > 1 && !options.query) || weights.at(i, j) <= most) continue;
      most = weights.at(i, j);
      best = {i, j};
    }
  }
  return best;
}

Lesson model_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  if (std::holds_alternative<ClassifierConfig>(run.config.head) &&
      options.kind.value_or(AttentionKind::pooling) == AttentionKind::pooling) {
    return pooling_lesson(run, options);
  }
  if (options.kind && !has_kind(run, *options.kind)) {
    throw UsageError(
        fmt::format("kind: the model has no {} attention; it has {}", name_of(*options.kind), kinds_of(run)));
  }
  if (decodes_by_rnn(run) && options.kind.value_or(AttentionKind::cross) == AttentionKind::cross) {
    return rnn_lesson(run, options);
  }
  AttentionKind kind = AttentionKind::cross;
  if (options.kind) {
    kind = *options.kind;
  } else if (has_kind(run, AttentionKind::encoder)) {
    kind = AttentionKind::encoder;
  } else if (run.config.task() == Task::complete && has_kind(run, AttentionKind::decoder)) {
    kind = AttentionKind::decoder;
  } else if (!has_kind(run, AttentionKind::cross)) {
    throw UsageError("kind: the model has no attention");
  }
  return attention_lesson(run, kind, options);
}

}  // namespace fovea::view
