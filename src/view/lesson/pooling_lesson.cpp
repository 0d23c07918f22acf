// A classifier's numbers: states, pooling scores and weights, the one vector, the label.
#include <fmt/format.h>

#include "view/lesson/equations.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

// The scores and weights of the learned queries.
void add_weights(Lesson& lesson, const ModelRun& run, const AttentionMatrix& weights, ChosenPair pair) {
  const std::vector<Message> tokens = lesson_names(run.source);
  const bool one = weights.rows == 1;
  std::vector<Message> hops;
  for (std::int64_t h = 0; h < weights.rows; ++h) {
    hops.push_back(one ? Message::of("pooling.query") : Message::of("pooling.hop", {{"number", h}}));
    lesson.picture.target.push_back(one ? "z" : fmt::format("z{}", h));
  }
  const Message& query = hops[static_cast<std::size_t>(pair.query)];
  const Message& key = tokens[static_cast<std::size_t>(pair.key)];
  const double weight = weights.at(pair.query, pair.key);
  LessonStep step = LessonStep::of(one ? "pooling.query" : "pooling.hops");
  if (const Tensor* tensor = run.trace.find("pooling.scores")) {
    const AttentionMatrix scores = matrix_of(*tensor);
    step.tables.push_back(model_table(Message::of("pooling.scores"), scores, hops, tokens));
    step.worked = {softmax_equation(entry("A", query, key), row_of(scores, pair.query), pair.key, weight)};
  }
  step.tables.push_back(model_table("A", weights, hops, tokens));
  step.tables.back().weights = true;
  lesson.steps.push_back(std::move(step));
  lesson.picture.source = run.source;
  lesson.picture.weights = weights;
  lesson.closing = {Message::of("pooling.closing", {{"key", key}, {"weight", shown_number(weight, kModelDecimals)}})};
}

}  // namespace

Lesson pooling_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  const std::vector<Message> tokens = lesson_names(run.source);
  Lesson lesson;
  lesson.title = Message::of("pooling.title");
  const auto add = [&](LessonStep step, LessonTable table) {
    step.tables = {std::move(table)};
    lesson.steps.push_back(std::move(step));
  };
  lesson.steps.push_back(tokens_step(run));
  add(LessonStep::of("pooling.embedded"), model_table("X", matrix_of(run.trace.at("source.embedding")), tokens));
  if (const Tensor* states = run.trace.find("encoder.output")) {
    add(LessonStep::of("pooling.encoded"), model_table("h", matrix_of(*states), tokens));
  }
  const Tensor* weights = run.trace.find("pooling.weights");
  if (weights != nullptr) {
    const AttentionMatrix matrix = matrix_of(*weights);
    add_weights(lesson, run, matrix, chosen_pair(matrix, options, false));
  }
  if (const Tensor* vector = run.trace.find("pooling.vector")) {
    add(LessonStep::of(weights != nullptr ? "pooled" : "reduced"),
        model_table("z", matrix_of(*vector), {Message::of("line")}));
  }
  if (!run.next.empty()) lesson.steps.push_back(next_step(run, 0));
  return lesson;
}

}  // namespace fovea::view
