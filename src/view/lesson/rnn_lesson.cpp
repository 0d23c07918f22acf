// A recurrent decoder's steps with its own numbers: states, scores, weights, context, new state, next word; or the one
// vector where it does not attend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kStepDecimals = 3;
constexpr std::int64_t kStepsTold = 24;  // of the output

class RnnTeller {
 public:
  RnnTeller(const ModelRun& run, const ModelLessonOptions& options)
      : run_(run), config_(std::get<RnnDecoderConfig>(run.config.generator().decoder)) {
    if (options.layer > 0) throw UsageError(fmt::format("layer: {} given, there is one attention", options.layer));
    if (options.head > 0) throw UsageError(fmt::format("head: {} given, there is one head", options.head));
    if (!attends()) return;
    weights_ = matrix_of(run.trace.at("decoder.attention.weights"));
    pair_ = chosen_pair(weights_, options, false);
  }

  Lesson tell() const {
    Lesson lesson;
    lesson.folded = true;
    lesson.title =
        attends() ? "A recurrent decoder that attends, step by step" : "A recurrent decoder and its one vector";
    lesson.lead = fmt::format("“{}” → “{}”: the model's own numbers", fit(run_.input, 80), fit(run_.output, 80));
    lesson.steps.push_back(tokens_step(run_));
    if (std::holds_alternative<CnnConfig>(run_.config.encoder)) {
      lesson.steps.push_back(window_step(run_, "encoder", 0, attends() ? pair_.key : 0));
    }
    lesson.steps.push_back(states());
    if (!attends()) lesson.steps.push_back(one_vector());
    const auto count = static_cast<std::int64_t>(run_.target.size());
    for (std::int64_t t = 0; t < std::min(count, kStepsTold); ++t) lesson.steps.push_back(step(t));
    if (count > kStepsTold) {
      lesson.steps.back().examples.push_back(
          fmt::format("… {} more tokens follow in the same way", count - kStepsTold));
    }
    if (attends()) {
      lesson.picture.source = run_.source;
      lesson.picture.target = run_.target;
      lesson.picture.weights = weights_;
      lesson.closing = fmt::format("{} attends most to {}: weight {}.", run_.target[at(pair_.query)],
                                   run_.source[at(pair_.key)], shown_number(weights_.at(pair_.query, pair_.key), 3));
    } else {
      lesson.closing =
          "Whatever the line's length, all that the decoder knows of it went through this one vector; attention lets "
          "it "
          "go back to every state instead.";
    }
    return lesson;
  }

 private:
  [[nodiscard]] bool attends() const { return config_.attention != RnnAttention::none; }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  [[nodiscard]] static NumberTable table(const char* name, AttentionMatrix m, std::vector<std::string> rows,
                                         std::vector<std::string> columns = {}, std::int64_t keep = -1) {
    NumberTable t;
    t.name = name;
    t.numbers = std::move(m);
    t.row_labels = std::move(rows);
    t.column_labels = std::move(columns);
    t.decimals = kStepDecimals;
    Fold fold;
    if (!t.column_labels.empty()) {
      fold.most_columns = 24;
      if (keep >= 0) fold.keep_columns = {keep};
    }
    return folded(std::move(t), fold);
  }
  // Row t of a value of the decoder.
  [[nodiscard]] AttentionMatrix row(const char* name, std::int64_t t) const {
    const AttentionMatrix all = matrix_of(run_.trace.at(name));
    const std::vector<double> values = row_of(all, t);
    return {1, all.columns, {values.begin(), values.end()}};
  }

  [[nodiscard]] LessonStep states() const {
    return {
        "The encoder's states",
        "h₁ … h_S",
        "The encoder reads the source and leaves a row of numbers at every token: what stands there, and around it.",
        {table("h", matrix_of(run_.trace.at("encoder.output")), run_.source)},
        {}};
  }

  [[nodiscard]] LessonStep one_vector() const {
    return {
        "The one vector",
        "c",
        "This model does not attend. What the encoder has read comes down to one vector, which is given to the decoder "
        "at every step.",
        {table("c", matrix_of(run_.trace.at("decoder.summary")), {"the line"})},
        {}};
  }

  // The sum behind the score of target position t and source position j.
  [[nodiscard]] std::string score_sum(std::int64_t t, std::int64_t j) const {
    const double shown = matrix_of(run_.trace.at("decoder.attention.scores")).at(t, j);
    const std::string name = fmt::format("e[{}, {}]", run_.target[at(t)], run_.source[at(j)]);
    const std::vector<double> query = row_of(matrix_of(run_.trace.at("decoder.attention.query")), t);
    const Tensor* keys = run_.trace.find("decoder.attention.key");
    if (keys == nullptr) {
      return fmt::format("{} = number {} of the row that the state gives for all positions = {}", name, j + 1,
                         shown_number(shown, 3));
    }
    const std::vector<double> key = row_of(matrix_of(*keys), j);
    if (config_.attention == RnnAttention::additive || config_.attention == RnnAttention::concat) {
      if (config_.coverage) return {};  // the sum has another term, what was attended to before
      const Tensor* vector = run_.weight("decoder.attention.vector");
      if (vector == nullptr || !*vector) return {};
      const Tensor v = vector->contiguous();
      std::vector<double> a;
      std::vector<double> b;
      for (std::size_t i = 0; i < query.size(); ++i) {
        a.push_back(v.data()[i]);
        b.push_back(std::tanh(query[i] + key[i]));
      }
      return fmt::format("{} = Σ v · tanh(q + k) = {} = {}", name, sum_of_products(a, b, 64), shown_number(shown, 3));
    }
    double sum = 0;
    for (std::size_t i = 0; i < query.size(); ++i) sum += query[i] * key[i];
    const double scale = std::abs(sum) > 1e-12 ? shown / sum : 1;
    const std::string scaled = std::abs(scale - 1) > 1e-3 ? fmt::format("{} · (", shown_number(scale, 5)) : "";
    return fmt::format("{} = {}{}{} = {}", name, scaled, sum_of_products(query, key, 64), scaled.empty() ? "" : ")",
                       shown_number(shown, 3));
  }

  [[nodiscard]] LessonStep step(std::int64_t t) const {
    const std::string& written = run_.target[at(t)];
    const std::string fed = t == 0 ? "<s>" : run_.target[at(t - 1)];
    LessonStep step;
    step.title = fmt::format("Step {}: {} is read, {} is written", t + 1, fed, written);
    if (attends()) {
      step.formula = "e = score(s, h)   α = softmax(e)   c = Σ α h   s′ = cell(s, c, word)   p = softmax(W s′)";
      if (config_.form == RnnForm::luong) {
        step.formula = "s = cell(s, word)   e = score(s, h)   α = softmax(e)   c = Σ α h   g = tanh(A [c; s])";
      }
      step.text =
          "Alignment scores of the state with every state of the encoder, their softmax, the context vector they "
          "weigh together, the new state, and what is likeliest to come next.";
      step.tables.push_back(table("scores e", row("decoder.attention.scores", t), {written}, run_.source, pair_.key));
      step.tables.push_back(table("weights α", row("decoder.attention.weights", t), {written}, run_.source, pair_.key));
      step.tables.back().weights = true;
      step.tables.push_back(table("context c", row("decoder.attention.context", t), {written}));
    } else {
      step.formula = "s′ = cell(s, c, word)   p = softmax(W s′ + U c + V word)";
      step.text = "The same vector c again, the last word and the state before give the new state and the next word.";
    }
    step.tables.push_back(table("new state s′", row("decoder.state", t), {written}));
    if (run_.trace.find("decoder.attentional") != nullptr) {
      step.tables.push_back(table("attentional g", row("decoder.attentional", t), {written}));
    }
    step.tables.push_back(next_step(run_, t).tables[0]);
    if (attends() && t == pair_.query) {
      if (std::string sum = score_sum(t, pair_.key); !sum.empty()) step.examples.push_back(std::move(sum));
      const std::vector<double> scores = row_of(matrix_of(run_.trace.at("decoder.attention.scores")), t);
      const std::string name = fmt::format("α[{}, {}]", written, run_.source[at(pair_.key)]);
      // A Gaussian around a predicted centre changes the weights after the softmax.
      if (config_.local != LocalKind::predictive) {
        step.examples.push_back(softmax_example(name, scores, pair_.key, weights_.at(t, pair_.key)));
      }
      const AttentionMatrix memory = matrix_of(run_.trace.at("decoder.attention.value"));
      step.examples.push_back(fmt::format("c[#1] = {} = {}",
                                          sum_of_products(row_of(weights_, t), column_of(memory, 0), 24),
                                          shown_number(row("decoder.attention.context", t).at(0, 0), 3)));
    }
    return step;
  }

  const ModelRun& run_;
  const RnnDecoderConfig& config_;
  AttentionMatrix weights_;
  ChosenPair pair_;
};

}  // namespace

Lesson rnn_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  return RnnTeller(run, options).tell();
}

}  // namespace fovea::view
