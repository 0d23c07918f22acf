// A classifier's numbers: states, pooling scores and weights, the one vector, the label.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/model_lesson.hpp"

namespace fovea::view {
namespace {

NumberTable pooled_table(const char* name, AttentionMatrix m, std::vector<std::string> rows,
                         std::vector<std::string> columns = {}) {
  NumberTable t;
  t.name = name;
  t.numbers = std::move(m);
  t.row_labels = std::move(rows);
  t.column_labels = std::move(columns);
  t.decimals = 3;
  Fold fold;
  if (!t.column_labels.empty()) fold.most_columns = 24;
  return folded(std::move(t), fold);
}

}  // namespace

Lesson pooling_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  Lesson lesson;
  lesson.folded = true;
  lesson.title = "A classifier, step by step";
  lesson.lead = fmt::format("“{}” → {}: the model's own numbers", run.input, run.output);
  lesson.steps.push_back(tokens_step(run));
  lesson.steps.push_back({"Every token becomes a row of numbers",
                          "X",
                          "The embeddings that the model has learned.",
                          {pooled_table("X", matrix_of(run.trace.at("source.embedding")), run.source)},
                          {}});
  if (const Tensor* states = run.trace.find("encoder.output")) {
    lesson.steps.push_back({"What the encoder makes of them",
                            "h",
                            "A row at every token that knows the tokens around it.",
                            {pooled_table("h", matrix_of(*states), run.source)},
                            {}});
  }
  const Tensor* weights = run.trace.find("pooling.weights");
  if (weights != nullptr) {
    const AttentionMatrix a = matrix_of(*weights);
    const ChosenPair pair = chosen_pair(a, options, false);
    std::vector<std::string> hops;
    for (std::int64_t h = 0; h < a.rows; ++h) hops.push_back(a.rows == 1 ? "query" : fmt::format("hop {}", h));
    NumberTable table = pooled_table("A", a, hops, run.source);
    table.weights = true;
    LessonStep step{a.rows == 1 ? "A learned query attends to every token" : "Learned queries attend to every token",
                    "A = softmax(scores)",
                    "One query, the same for every line, scores each row; softmax turns the scores into weights.",
                    {},
                    {}};
    if (const Tensor* scores = run.trace.find("pooling.scores")) {
      const AttentionMatrix s = matrix_of(*scores);
      step.tables.push_back(pooled_table("scores", s, hops, run.source));
      step.examples.push_back(softmax_example(fmt::format("A[{}, {}]", hops[static_cast<std::size_t>(pair.query)],
                                                          run.source[static_cast<std::size_t>(pair.key)]),
                                              row_of(s, pair.query), pair.key, a.at(pair.query, pair.key)));
    }
    step.tables.push_back(std::move(table));
    lesson.steps.push_back(std::move(step));
    lesson.picture.source = run.source;
    lesson.picture.target = hops;
    lesson.picture.weights = a;
    lesson.closing = fmt::format("{} counts most: weight {}.", run.source[static_cast<std::size_t>(pair.key)],
                                 shown_number(a.at(pair.query, pair.key), 3));
  }
  if (const Tensor* vector = run.trace.find("pooling.vector")) {
    lesson.steps.push_back({"The one vector of the line",
                            weights != nullptr ? "z = A h" : "z",
                            weights != nullptr ? "The rows, each times its weight, summed."
                                               : "The rows of all tokens brought down to one.",
                            {pooled_table("z", matrix_of(*vector), {"the line"})},
                            {}});
  }
  if (!run.next.empty()) lesson.steps.push_back(next_step(run, 0));
  return lesson;
}

}  // namespace fovea::view
