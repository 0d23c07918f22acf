// A recurrent decoder's steps with its own numbers: states, scores, weights, context, new state, next word; or the one
// vector where it does not attend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/folded.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/speaker.hpp"

namespace fovea::view {
namespace {

constexpr int kStepDecimals = 3;
constexpr std::int64_t kStepsTold = 24;  // of the output

class RnnTeller {
 public:
  RnnTeller(const ModelRun& run, const ModelLessonOptions& options)
      : run_(run),
        config_(std::get<RnnDecoderConfig>(run.config.generator().decoder)),
        language_(options.language),
        say_(options.language),
        source_(lesson_names(run.source, options.language)),
        target_(lesson_names(run.target, options.language)) {
    if (options.layer > 0) throw UsageError(fmt::format("layer: {} given, there is one attention", options.layer));
    if (options.head > 0) throw UsageError(fmt::format("head: {} given, there is one head", options.head));
    if (!attends()) return;
    weights_ = matrix_of(run.trace.at("decoder.attention.weights"));
    pair_ = chosen_pair(weights_, options, false);
  }

  Lesson tell() const {
    Lesson lesson;
    lesson.folded = true;
    lesson.title = attends() ? say_("A recurrent decoder that attends, step by step", "带注意力的循环解码器，一步一步")
                             : say_("A recurrent decoder and its one vector", "循环解码器和它唯一的向量");
    lesson.lead = model_lead(run_, language_);
    lesson.steps.push_back(tokens_step(run_, language_));
    if (std::holds_alternative<CnnConfig>(run_.config.encoder)) {
      lesson.steps.push_back(window_step(run_, "encoder", 0, attends() ? pair_.key : 0, language_));
    }
    lesson.steps.push_back(states());
    if (!attends()) lesson.steps.push_back(one_vector());
    const auto count = static_cast<std::int64_t>(run_.target.size());
    for (std::int64_t t = 0; t < std::min(count, kStepsTold); ++t) lesson.steps.push_back(step(t));
    if (count > kStepsTold) {
      lesson.steps.back().examples.push_back(
          say_.fill("… {} more tokens follow in the same way", "…… 其余 {} 个词元同样得到", count - kStepsTold));
    }
    if (attends()) {
      lesson.picture.source = run_.source;
      lesson.picture.target = run_.target;
      lesson.picture.weights = weights_;
      lesson.closing =
          say_.fill("{} attends most to {}: weight {}.", "{} 最关注 {}：权重 {}。", target_[at(pair_.query)],
                    source_[at(pair_.key)], shown_number(weights_.at(pair_.query, pair_.key), 3));
    } else {
      lesson.closing = say_(
          "Whatever the line's length, all that the decoder knows of it went through this one vector; attention "
          "lets it go back to every state instead.",
          "无论句子多长，解码器对它的全部了解都要经过这一个向量；注意力则让它可以回头看每一个状态。");
    }
    return lesson;
  }

 private:
  [[nodiscard]] bool attends() const { return config_.attention != RnnAttention::none; }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  [[nodiscard]] NumberTable table(const char* name, AttentionMatrix m, std::vector<std::string> rows,
                                  std::vector<std::string> columns = {}, std::int64_t keep = -1) const {
    NumberTable t;
    t.name = name;
    t.numbers = std::move(m);
    t.row_labels = std::move(rows);
    t.column_labels = std::move(columns);
    t.decimals = kStepDecimals;
    Fold fold;
    fold.language = language_;
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
        say_("The encoder's states", "编码器的状态"),
        "h₁ … h_S",
        say_("The encoder reads the source and leaves a row of numbers at every token: what stands there, and around "
             "it.",
             "编码器读入源句，在每个词元处留下一行数：那里以及周围有什么。"),
        {table("h", matrix_of(run_.trace.at("encoder.output")), source_)},
        {}};
  }

  [[nodiscard]] LessonStep one_vector() const {
    return {
        say_("The one vector", "唯一的向量"),
        "c",
        say_("This model does not attend. What the encoder has read comes down to one vector, which is given to the "
             "decoder at every step.",
             "此模型没有注意力。编码器读到的一切都压缩成一个向量，每一步都交给解码器。"),
        {table("c", matrix_of(run_.trace.at("decoder.summary")), {say_("the line", "整句")})},
        {}};
  }

  // The sum behind the score of target position t and source position j.
  [[nodiscard]] std::string score_sum(std::int64_t t, std::int64_t j) const {
    const double shown = matrix_of(run_.trace.at("decoder.attention.scores")).at(t, j);
    const std::string name = fmt::format("e[{}, {}]", target_[at(t)], source_[at(j)]);
    const std::vector<double> query = row_of(matrix_of(run_.trace.at("decoder.attention.query")), t);
    const Tensor* keys = run_.trace.find("decoder.attention.key");
    if (keys == nullptr) {
      return say_.fill("{} = number {} of the row that the state gives for all positions = {}",
                       "{} = 状态为所有位置给出的那一行的第 {} 个数 = {}", name, j + 1, shown_number(shown, 3));
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
      return fmt::format("{} = Σ v · tanh(q + k) = {} = {}", name, sum_of_products(a, b, 64, language_),
                         shown_number(shown, 3));
    }
    double sum = 0;
    for (std::size_t i = 0; i < query.size(); ++i) sum += query[i] * key[i];
    const double scale = std::abs(sum) > 1e-12 ? shown / sum : 1;
    const std::string scaled = std::abs(scale - 1) > 1e-3 ? fmt::format("{} · (", shown_number(scale, 5)) : "";
    return fmt::format("{} = {}{}{} = {}", name, scaled, sum_of_products(query, key, 64, language_),
                       scaled.empty() ? "" : ")", shown_number(shown, 3));
  }

  [[nodiscard]] LessonStep step(std::int64_t t) const {
    const std::string& written = target_[at(t)];
    const std::string fed = t == 0 ? lesson_names({"<s>"}, language_)[0] : target_[at(t - 1)];
    LessonStep step;
    step.title = say_.fill("Step {}: {} is read, {} is written", "第 {} 步：读入 {}，写出 {}", t + 1, fed, written);
    if (attends()) {
      step.formula = "e = score(s, h)   α = softmax(e)   c = Σ α h   s′ = cell(s, c, word)   p = softmax(W s′)";
      if (config_.form == RnnForm::luong) {
        step.formula = "s = cell(s, word)   e = score(s, h)   α = softmax(e)   c = Σ α h   g = tanh(A [c; s])";
      }
      step.text = say_(
          "Alignment scores of the state with every state of the encoder, their softmax, the context vector they "
          "weigh together, the new state, and what is likeliest to come next.",
          "状态与编码器每个状态的对齐分数，它们的 softmax，加权得到的上下文向量，新的状态，以及最可能的下一个词。");
      step.tables.push_back(
          table(say_("scores e", "分数 e"), row("decoder.attention.scores", t), {written}, source_, pair_.key));
      step.tables.push_back(
          table(say_("weights α", "权重 α"), row("decoder.attention.weights", t), {written}, source_, pair_.key));
      step.tables.back().weights = true;
      step.tables.push_back(table(say_("context c", "上下文 c"), row("decoder.attention.context", t), {written}));
    } else {
      step.formula = "s′ = cell(s, c, word)   p = softmax(W s′ + U c + V word)";
      step.text =
          say_("The same vector c again, the last word and the state before give the new state and the next word.",
               "仍是同一个向量 c，加上前一个词和前一个状态，得到新的状态和下一个词。");
    }
    step.tables.push_back(table(say_("new state s′", "新状态 s′"), row("decoder.state", t), {written}));
    if (run_.trace.find("decoder.attentional") != nullptr) {
      step.tables.push_back(table(say_("attentional g", "注意力状态 g"), row("decoder.attentional", t), {written}));
    }
    step.tables.push_back(next_step(run_, t, language_).tables[0]);
    if (attends() && t == pair_.query) {
      if (std::string sum = score_sum(t, pair_.key); !sum.empty()) step.examples.push_back(std::move(sum));
      const std::vector<double> scores = row_of(matrix_of(run_.trace.at("decoder.attention.scores")), t);
      const std::string name = fmt::format("α[{}, {}]", written, source_[at(pair_.key)]);
      // A Gaussian around a predicted centre changes the weights after the softmax.
      if (config_.local != LocalKind::predictive) {
        step.examples.push_back(softmax_example(name, scores, pair_.key, weights_.at(t, pair_.key), language_));
      }
      const AttentionMatrix memory = matrix_of(run_.trace.at("decoder.attention.value"));
      step.examples.push_back(fmt::format("c[#1] = {} = {}",
                                          sum_of_products(row_of(weights_, t), column_of(memory, 0), 24, language_),
                                          shown_number(row("decoder.attention.context", t).at(0, 0), 3)));
    }
    return step;
  }

  const ModelRun& run_;
  const RnnDecoderConfig& config_;
  LessonLanguage language_;
  Speaker say_;
  std::vector<std::string> source_, target_;  // as they are shown
  AttentionMatrix weights_;
  ChosenPair pair_;
};

}  // namespace

Lesson rnn_lesson(const ModelRun& run, const ModelLessonOptions& options) {
  return RnnTeller(run, options).tell();
}

}  // namespace fovea::view
