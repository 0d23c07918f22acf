// A classifier's numbers: states, pooling scores and weights, the one vector, the label.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/speaker.hpp"

namespace fovea::view {
namespace {

NumberTable pooled_table(LessonLanguage language, const char* name, AttentionMatrix m, std::vector<std::string> rows,
                         std::vector<std::string> columns = {}) {
  NumberTable t;
  t.name = name;
  t.numbers = std::move(m);
  t.row_labels = std::move(rows);
  t.column_labels = std::move(columns);
  t.decimals = 3;
  Fold fold;
  fold.language = language;
  if (!t.column_labels.empty()) fold.most_columns = 24;
  return folded(std::move(t), fold);
}

}  // namespace

Lesson pooling_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  const Speaker say(options.language);
  const std::vector<std::string> tokens = lesson_names(run.source, options.language);
  Lesson lesson;
  lesson.folded = true;
  lesson.title = say("A classifier, step by step", "分类器，一步一步");
  lesson.lead = model_lead(run, options.language);
  lesson.steps.push_back(tokens_step(run, options.language));
  lesson.steps.push_back({say("Every token becomes a row of numbers", "每个词元变成一行数"),
                          "X",
                          say("The embeddings that the model has learned.", "模型学到的词嵌入。"),
                          {pooled_table(options.language, "X", matrix_of(run.trace.at("source.embedding")), tokens)},
                          {}});
  if (const Tensor* states = run.trace.find("encoder.output")) {
    lesson.steps.push_back(
        {say("What the encoder makes of them", "编码器由此得到什么"),
         "h",
         say("A row at every token that knows the tokens around it.", "每个词元处一行数，包含其周围词元的信息。"),
         {pooled_table(options.language, "h", matrix_of(*states), tokens)},
         {}});
  }
  const Tensor* weights = run.trace.find("pooling.weights");
  if (weights != nullptr) {
    const AttentionMatrix a = matrix_of(*weights);
    const ChosenPair pair = chosen_pair(a, options, false);
    std::vector<std::string> hops;
    for (std::int64_t h = 0; h < a.rows; ++h)
      hops.push_back(a.rows == 1 ? std::string(say("query", "查询")) : say.fill("hop {}", "跳 {}", h));
    NumberTable table = pooled_table(options.language, "A", a, hops, tokens);
    table.weights = true;
    LessonStep step{a.rows == 1 ? say("A learned query attends to every token", "一个学到的查询关注每个词元")
                                : say("Learned queries attend to every token", "学到的若干查询关注每个词元"),
                    say("A = softmax(scores)", "A = softmax(分数)"),
                    say("One query, the same for every line, scores each row; softmax turns the scores into weights.",
                        "同一个查询给每一行打分；softmax 把分数变成权重。"),
                    {},
                    {}};
    if (const Tensor* scores = run.trace.find("pooling.scores")) {
      const AttentionMatrix s = matrix_of(*scores);
      step.tables.push_back(pooled_table(options.language, say("scores", "分数"), s, hops, tokens));
      step.examples.push_back(softmax_example(fmt::format("A[{}, {}]", hops[static_cast<std::size_t>(pair.query)],
                                                          tokens[static_cast<std::size_t>(pair.key)]),
                                              row_of(s, pair.query), pair.key, a.at(pair.query, pair.key),
                                              options.language));
    }
    step.tables.push_back(std::move(table));
    lesson.steps.push_back(std::move(step));
    lesson.picture.source = run.source;
    lesson.picture.target = hops;
    lesson.picture.weights = a;
    lesson.closing = say.fill("{} counts most: weight {}.", "{} 最重要：权重 {}。",
                              tokens[static_cast<std::size_t>(pair.key)], shown_number(a.at(pair.query, pair.key), 3));
  }
  if (const Tensor* vector = run.trace.find("pooling.vector")) {
    lesson.steps.push_back({say("The one vector of the line", "整句的一个向量"),
                            weights != nullptr ? "z = A h" : "z",
                            weights != nullptr
                                ? say("The rows, each times its weight, summed.", "各行乘以权重后之和。")
                                : say("The rows of all tokens brought down to one.", "所有词元的行合为一行。"),
                            {pooled_table(options.language, "z", matrix_of(*vector), {say("the line", "整句")})},
                            {}});
  }
  if (!run.next.empty()) lesson.steps.push_back(next_step(run, 0, options.language));
  return lesson;
}

}  // namespace fovea::view
