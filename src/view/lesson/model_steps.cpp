// Steps that the lessons of all architectures share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/lesson/equations.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/terminal/number_table.hpp"
#include "view/text.hpp"
#include "view/token_names.hpp"

namespace fovea::view {
namespace {

Message listed(const std::vector<std::string>& tokens) {
  constexpr std::size_t kMost = 60;
  const std::vector<Message> names = lesson_names(tokens);
  Message out;
  const std::size_t shown = std::min(names.size(), kMost);
  for (std::size_t i = shown; i-- > 0;) {
    out = i + 1 == shown ? names[i] : Message::of("list", {{"first", names[i]}, {"rest", std::move(out)}});
  }
  if (names.size() <= kMost) return out;
  return Message::of("tokens.more", {{"tokens", std::move(out)}, {"count", names.size() - kMost}});
}

bool classifies(const ModelRun& run) {
  return std::holds_alternative<ClassifierConfig>(run.config.head);
}

// The name of a token that is not part of a sequence: whether it continues a word is known from the model's pieces.
Message name_alone(const ModelRun& run, const std::string& token) {
  const bool pieces =
      std::any_of(run.target.begin(), run.target.end(), [](const auto& t) { return t.starts_with("▁"); });
  return pieces ? lesson_names({"▁a", token})[1] : lesson_names({token})[0];
}

}  // namespace

std::vector<Message> lesson_names(const std::vector<std::string>& tokens) {
  const std::vector<std::string> names = token_names(tokens);
  std::vector<Message> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    out.push_back(tokens[i] == "</s>"    ? Message::of("token.end")
                  : tokens[i] == "<s>"   ? Message::of(i > 0 ? "token.turn" : "token.start")
                  : tokens[i] == "<unk>" ? Message::of("token.unknown")
                                         : Message(names[i]));
  }
  return out;
}

std::vector<std::string> read_target(const ModelRun& run) {
  std::vector<std::string> tokens = run.target;
  tokens.insert(tokens.begin(), "<s>");
  tokens.pop_back();
  return tokens;
}

Message model_lead(const ModelRun& run) {
  return Message::of("model.lead", {{"input", fit(run.input, 80)}, {"output", fit(run.output, 80)}});
}

LessonStep tokens_step(const ModelRun& run) {
  LessonStep step;
  step.title = Message::of("tokens.title");
  const bool continues = run.config.task() == Task::complete;
  step.text = {Message::of(
      continues         ? "tokens.continued"
      : classifies(run) ? "tokens.classified"
                        : "tokens.translated",
      {{"input", run.input}, {"output", run.output}, {"count", continues ? run.target.size() : run.source.size()}})};
  if (continues) {
    step.worked = {Message::of("tokens.next", {{"tokens", listed(run.target)}})};
  } else {
    step.worked = {Message::of("tokens.source", {{"tokens", listed(run.source)}}),
                   Message::of(classifies(run) ? "tokens.label" : "tokens.target", {{"tokens", listed(run.target)}})};
  }
  return step;
}

LessonStep next_step(const ModelRun& run, std::int64_t at) {
  const auto& candidates = run.next.at(static_cast<std::size_t>(at));
  LessonTable table{"p", {}, {1, static_cast<std::int64_t>(candidates.size()), {}}};
  double rest = 1;
  for (const Candidate& one : candidates) {
    table.columns.push_back(name_alone(run, one.text));
    table.numbers.values.push_back(std::exp(one.log_probability));
    rest -= std::exp(static_cast<double>(one.log_probability));
  }
  table.decimals = 4;
  table.weights = true;
  const Tensor* logits = run.trace.find("output.logits");
  table.note = Message::of("next.note", {{"count", logits != nullptr ? logits->dim(-1) : 0},
                                         {"rest", shown_number(std::max(0.0, rest), 4)}});
  LessonStep step = classifies(run) ? LessonStep::of("label") : LessonStep::of("next", {{"number", at + 1}});
  step.tables = {std::move(table)};
  step.worked = {Message::of("next.chosen", {{"token", name_alone(run, run.target.at(static_cast<std::size_t>(at)))}})};
  return step;
}

LessonStep window_step(const ModelRun& run, const std::string& side, int layer, std::int64_t at) {
  const std::string name = fmt::format("{}.{}", side, layer);
  const AttentionMatrix in = matrix_of(run.trace.at(name + ".input"));
  const bool decodes = side == "decoder";
  const CnnConfig& config =
      decodes ? std::get<CnnConfig>(run.config.generator().decoder) : std::get<CnnConfig>(run.config.encoder);
  const std::int64_t first = decodes ? at - config.kernel + 1 : at - config.kernel / 2;
  const std::vector<Message> tokens = lesson_names(decodes ? read_target(run) : run.source);
  AttentionMatrix window{config.kernel, in.columns, {}};
  std::vector<Message> labels;
  for (std::int64_t i = first; i < first + config.kernel; ++i) {
    const bool inside = i >= 0 && i < in.rows;
    labels.push_back(inside ? tokens[static_cast<std::size_t>(i)] : Message::of("window.outside"));
    for (std::int64_t c = 0; c < in.columns; ++c) window.values.push_back(inside ? in.at(i, c) : 0.0F);
  }
  LessonStep step = LessonStep::of(side + "_window", {{"layer", layer}, {"width", config.kernel}});
  step.tables = {model_table(Message::of("window.table"), std::move(window), std::move(labels)),
                 model_table("y", row_matrix(matrix_of(run.trace.at(name + ".convolution")), at),
                             {tokens[static_cast<std::size_t>(at)]})};
  return step;
}

}  // namespace fovea::view
