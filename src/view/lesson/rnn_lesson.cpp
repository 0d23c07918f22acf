// A recurrent decoder's steps with its own numbers: states, scores, weights, context, new state, next word; or the one
// vector of a decoder without attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/equations.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

constexpr std::int64_t kStepsShown = 24;   // of the output
constexpr std::size_t kScoreTerms = 64;    // of the sum of a score
constexpr std::size_t kContextTerms = 24;  // of the sum of a context's number

class RnnLessonBuilder {
 public:
  RnnLessonBuilder(const ModelRun& run, const ModelLessonOptions& options)
      : run_(run),
        config_(std::get<RnnDecoderConfig>(run.config.generator().decoder)),
        source_(lesson_names(run.source)),
        target_(lesson_names(run.target)) {
    if (options.layer > 0) throw UsageError("layer", fmt::format("{} given, there is one attention", options.layer));
    if (options.head > 0) throw UsageError("head", fmt::format("{} given, there is one head", options.head));
    if (!attends()) return;
    weights_ = matrix("decoder.attention.weights");
    pair_ = chosen_pair(weights_, options, false);
  }

  [[nodiscard]] Lesson build() const {
    Lesson lesson;
    lesson.title = Message::of(attends() ? "rnn.title" : "rnn.plain.title");
    lesson.steps.push_back(tokens_step(run_));
    if (std::holds_alternative<CnnConfig>(run_.config.encoder)) {
      lesson.steps.push_back(window_step(run_, "encoder", 0, attends() ? pair_.key : 0));
    }
    add(lesson, "states", model_table("h", matrix("encoder.output"), source_));
    if (!attends()) add(lesson, "summary", model_table("c", matrix("decoder.summary"), {Message::of("line")}));
    const auto count = static_cast<std::int64_t>(run_.target.size());
    for (std::int64_t t = 0; t < std::min(count, kStepsShown); ++t) lesson.steps.push_back(output_step(t));
    if (count > kStepsShown) {
      lesson.steps.back().worked.push_back(Message::of("step.more", {{"count", count - kStepsShown}}));
    }
    if (!attends()) {
      lesson.closing = {Message::of("rnn.plain.closing")};
      return lesson;
    }
    lesson.picture.source = run_.source;
    lesson.picture.target = run_.target;
    lesson.picture.weights = weights_;
    lesson.closing = {Message::of("model.closing", {{"query", target(pair_.query)},
                                                    {"key", source(pair_.key)},
                                                    {"weight", shown_number(pair_weight(), kModelDecimals)}})};
    return lesson;
  }

 private:
  [[nodiscard]] bool attends() const { return config_.attention != RnnAttention::none; }
  [[nodiscard]] const Message& source(std::int64_t i) const { return source_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Message& target(std::int64_t i) const { return target_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double pair_weight() const { return weights_.at(pair_.query, pair_.key); }
  [[nodiscard]] AttentionMatrix matrix(const char* name) const { return matrix_of(run_.trace.at(name)); }

  static void add(Lesson& lesson, const char* key, LessonTable table) {
    lesson.steps.push_back(LessonStep::of(key));
    lesson.steps.back().tables = {std::move(table)};
  }

  // Row t of a value of the decoder; with a column for each source token where `columns` is set.
  [[nodiscard]] LessonTable row_table(const char* key, const char* value, std::int64_t t, bool columns = false) const {
    Fold fold;
    if (columns) fold.keep_columns = {pair_.key};
    return model_table(Message::of(key), row_matrix(matrix(value), t), {target(t)},
                       columns ? source_ : std::vector<Message>{}, fold);
  }

  // The sum behind the score of the chosen pair; empty where it is not a sum of the numbers shown.
  [[nodiscard]] Message score_equation() const {
    const std::string value =
        shown_number(matrix("decoder.attention.scores").at(pair_.query, pair_.key), kModelDecimals);
    const Message name = entry("e", target(pair_.query), source(pair_.key));
    const Tensor* keys = run_.trace.find("decoder.attention.key");
    if (keys == nullptr) return equation({name, Message::of("step.location", {{"number", pair_.key + 1}}), value});
    const std::vector<double> query = row_of(matrix("decoder.attention.query"), pair_.query);
    const std::vector<double> key = row_of(matrix_of(*keys), pair_.key);
    if (config_.attention == RnnAttention::additive || config_.attention == RnnAttention::concat) {
      return additive_equation(name, query, key, value);
    }
    double sum = 0;
    for (std::size_t i = 0; i < query.size(); ++i) sum += query[i] * key[i];
    const double shown = matrix("decoder.attention.scores").at(pair_.query, pair_.key);
    const double scale = std::abs(sum) > 1e-12 ? shown / sum : 1;
    Message terms = sum_of_products(query, key, kScoreTerms);
    if (std::abs(scale - 1) > 1e-3) {
      terms = Message::of("sum.scaled", {{"factor", shown_number(scale, kTermDecimals)}, {"terms", std::move(terms)}});
    }
    return equation({name, terms, value});
  }

  [[nodiscard]] Message additive_equation(const Message& name, const std::vector<double>& query,
                                          const std::vector<double>& key, const std::string& value) const {
    if (config_.coverage) return {};  // the sum has another term, the coverage
    const Tensor* vector = run_.weight("decoder.attention.vector");
    if (vector == nullptr || !*vector) return {};
    const Tensor v = vector->contiguous();
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < query.size(); ++i) {
      a.push_back(v.data()[i]);
      b.push_back(std::tanh(query[i] + key[i]));
    }
    return equation({name, "Σ v · tanh(q + k)", sum_of_products(a, b, kScoreTerms), value});
  }

  // The sums of the chosen pair.
  void add_equations(LessonStep& step) const {
    const std::int64_t t = pair_.query;
    if (Message score = score_equation(); !score.empty()) step.worked.push_back(std::move(score));
    // A Gaussian around a predicted centre changes the weights after the softmax.
    if (config_.local != LocalKind::predictive) {
      step.worked.push_back(softmax_equation(entry("α", target(t), source(pair_.key)),
                                             row_of(matrix("decoder.attention.scores"), t), pair_.key, pair_weight()));
    }
    step.worked.push_back(equation(
        {"c[#1]", sum_of_products(row_of(weights_, t), column_of(matrix("decoder.attention.value"), 0), kContextTerms),
         shown_number(matrix("decoder.attention.context").at(t, 0), kModelDecimals)}));
  }

  [[nodiscard]] LessonStep output_step(std::int64_t t) const {
    const Message read = t == 0 ? lesson_names({"<s>"})[0] : target(t - 1);
    LessonStep step = LessonStep::of("step", {{"number", t + 1}, {"read", read}, {"written", target(t)}});
    if (attends()) {
      if (config_.form == RnnForm::luong) step.formula = Message::of("step.formula.luong");
      step.tables = {row_table("step.scores", "decoder.attention.scores", t, true),
                     row_table("step.weights", "decoder.attention.weights", t, true),
                     row_table("step.context", "decoder.attention.context", t)};
      step.tables[1].weights = true;
    } else {
      step.formula = Message::of("step.formula.plain");
      step.text = {Message::of("step.plain")};
    }
    step.tables.push_back(row_table("step.state", "decoder.state", t));
    if (run_.trace.find("decoder.attentional") != nullptr) {
      step.tables.push_back(row_table("step.attentional", "decoder.attentional", t));
    }
    step.tables.push_back(next_step(run_, t).tables[0]);
    if (attends() && t == pair_.query) add_equations(step);
    return step;
  }

  const ModelRun& run_;
  const RnnDecoderConfig& config_;
  std::vector<Message> source_, target_;  // display names
  AttentionMatrix weights_;
  ChosenPair pair_;
};

}  // namespace

Lesson rnn_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  return RnnLessonBuilder(run, options).build();
}

}  // namespace fovea::view
