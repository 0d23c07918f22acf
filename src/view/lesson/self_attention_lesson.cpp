#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "view/lesson/equations.hpp"
#include "view/lesson/model_tables.hpp"
#include "view/lesson/worked_lesson.hpp"
#include "view/terminal/number_table.hpp"

namespace fovea::view {
namespace {

constexpr int kDecimals = 2;
constexpr std::size_t kTermsShown = 8;     // of a sum written out
constexpr double kSmallestWeight = 0.005;  // that a weighted sum of rows writes

std::string number(double value) {
  return shown_number(value, kDecimals);
}

Message dot_product(const std::vector<double>& a, const std::vector<double>& b) {
  return sum_of_products(a, b, kTermsShown, kDecimals);
}

// One decimal where all numbers are that round, otherwise two.
int decimals_of(const AttentionMatrix& m) {
  const bool round = std::all_of(m.values.begin(), m.values.end(),
                                 [](float v) { return std::abs(v * 10 - std::round(v * 10)) < 1e-5F; });
  return round ? 1 : kDecimals;
}

// The query and the different key with the largest weight: the sums of this pair are written out.
struct WordPair {
  std::int64_t query = 0, key = 0;
};

WordPair strongest_pair(const AttentionMatrix& weights) {
  WordPair best;
  float most = -1;
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    for (std::int64_t j = 0; j < weights.columns; ++j) {
      if (i == j || weights.at(i, j) <= most) continue;
      most = weights.at(i, j);
      best = {i, j};
    }
  }
  return best;
}

// Tables of different heads have different ids: the page finds the operands of a number by them (web/explain.js).
LessonTable worked_table(const std::string& name, const AttentionMatrix& m, const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns, int head = -1) {
  LessonTable table{name, head < 0 ? name : fmt::format("{}.{}", name, head), m};
  table.rows.assign(rows.begin(), rows.end());
  table.columns.assign(columns.begin(), columns.end());
  table.decimals = head < 0 ? decimals_of(m) : kDecimals;
  return table;
}

// The steps of one head.
class HeadSteps {
 public:
  HeadSteps(const WorkedExample& example, int head)
      : input_(example.input),
        head_(example.heads[static_cast<std::size_t>(head)]),
        number_(head),
        pair_(strongest_pair(head_.weights)) {}

  void append_to(std::vector<LessonStep>& steps) const {
    for (LessonStep step : {projections(), scores(), scaling(), softmax(), output()}) {
      if (input_.heads > 1) step.title = Message::of("self.head", {{"head", number_ + 1}, {"title", step.title}});
      steps.push_back(std::move(step));
    }
  }

 private:
  [[nodiscard]] const std::string& word(std::int64_t i) const { return input_.tokens[static_cast<std::size_t>(i)]; }
  [[nodiscard]] LessonTable rows(const char* name, const AttentionMatrix& m) const {
    return worked_table(name, m, input_.tokens, {}, number_);
  }
  [[nodiscard]] LessonTable pairs(const char* name, const AttentionMatrix& m) const {
    return worked_table(name, m, input_.tokens, input_.tokens, number_);
  }
  [[nodiscard]] Message pair_entry(const char* symbol) const {
    return entry(symbol, word(pair_.query), word(pair_.key));
  }
  [[nodiscard]] float of_pair(const AttentionMatrix& m) const { return m.at(pair_.query, pair_.key); }

  [[nodiscard]] LessonStep projections() const {
    LessonStep step = LessonStep::of("projections");
    step.tables = {rows("Q", head_.q), rows("K", head_.k), rows("V", head_.v)};
    const std::int64_t first = number_ * head_.q.columns;
    step.worked = {equation({entry("Q", word(pair_.query), 1),
                             dot_product(row_of(input_.x, pair_.query), column_of(input_.w_q, first)),
                             number(head_.q.at(pair_.query, 0))})};
    return step;
  }

  [[nodiscard]] LessonStep scores() const {
    LessonStep step = LessonStep::of("scores");
    step.tables = {pairs("S", head_.scores)};
    step.worked = {equation({pair_entry("S"), dot_product(row_of(head_.q, pair_.query), row_of(head_.k, pair_.key)),
                             number(of_pair(head_.scores))})};
    return step;
  }

  [[nodiscard]] LessonStep scaling() const {
    const double root = std::sqrt(static_cast<double>(head_.q.columns));
    LessonStep step = LessonStep::of("scaling", {{"width", head_.q.columns}, {"root", number(root)}});
    if (input_.causal) {
      step.formula = Message::of("scaling.formula.causal");
      step.text.push_back(Message::of("scaling.causal"));
    }
    step.tables = {pairs("S/√d", head_.scaled)};
    step.worked = {equation({number(of_pair(head_.scores)) + " / " + number(root), number(of_pair(head_.scaled))})};
    return step;
  }

  [[nodiscard]] LessonStep softmax() const {
    LessonStep step = LessonStep::of("softmax");
    step.tables = {pairs("A", head_.weights)};
    step.tables[0].weights = true;
    step.worked = {softmax_equation(pair_entry("A"), row_of(head_.scaled, pair_.query), pair_.key,
                                    of_pair(head_.weights), kDecimals)};
    return step;
  }

  [[nodiscard]] LessonStep output() const {
    LessonStep step = LessonStep::of("output");
    step.tables = {rows("Z", head_.output)};
    const std::vector<double> weights = row_of(head_.weights, pair_.query);
    std::string terms;
    for (std::size_t j = 0; j < std::min(weights.size(), kTermsShown); ++j) {
      if (weights[j] < kSmallestWeight) continue;
      terms += fmt::format("{}{}·V[{}]", terms.empty() ? "" : " + ", number(weights[j]), input_.tokens[j]);
    }
    if (weights.size() > kTermsShown) terms += " + …";
    step.worked = {equation({Message::of("row", {{"symbol", "Z"}, {"row", word(pair_.query)}}), terms}),
                   equation({entry("Z", word(pair_.query), 1), dot_product(weights, column_of(head_.v, 0)),
                             number(head_.output.at(pair_.query, 0))})};
    return step;
  }

  const WorkedInput& input_;
  const WorkedHead& head_;
  int number_;
  WordPair pair_;
};

LessonStep words_step(const WorkedInput& in) {
  LessonStep step = LessonStep::of("words", {{"count", in.x.columns}});
  step.text.push_back(Message::of(in.made_up ? "words.made_up" : "words.given"));
  step.tables = {worked_table("X", in.x, in.tokens, {})};
  return step;
}

LessonStep matrices_step(const WorkedInput& in) {
  LessonStep step = LessonStep::of("matrices");
  if (in.heads > 1) step.text.push_back(Message::of("matrices.heads", {{"width", in.w_q.columns / in.heads}}));
  step.tables = {worked_table("W_Q", in.w_q, {}, {}), worked_table("W_K", in.w_k, {}, {}),
                 worked_table("W_V", in.w_v, {}, {})};
  return step;
}

LessonStep joining_step(const WorkedExample& example) {
  const WorkedInput& in = example.input;
  LessonStep step = LessonStep::of(in.heads == 1 ? "mixed" : "heads");
  step.tables = {worked_table("[Z]", example.joined, in.tokens, {})};
  if (in.w_o.rows > 0) {
    step.tables.push_back(worked_table("W_O", in.w_o, {}, {}));
    step.tables.push_back(worked_table("O", example.output, in.tokens, {}));
    step.worked = {equation({entry("O", in.tokens[0], 1), dot_product(row_of(example.joined, 0), column_of(in.w_o, 0)),
                             number(example.output.at(0, 0))})};
  }
  return step;
}

Message lead_of(const WorkedInput& in, const std::string& sentence, const Message& origin) {
  const Message heads = in.heads == 1
                            ? Message::of("self.one_head")
                            : Message::of("self.heads", {{"heads", in.heads}, {"width", in.w_q.columns / in.heads}});
  return Message::of("self.lead", {{"sentence", sentence},
                                   {"tokens", in.tokens.size()},
                                   {"width", in.x.columns},
                                   {"heads", heads},
                                   {"causal", in.causal ? Message::of("self.causal") : Message()},
                                   {"origin", origin}});
}

}  // namespace

Lesson self_attention_lesson(const WorkedExample& example, const std::string& sentence, const Message& origin) {
  const WorkedInput& in = example.input;
  Lesson lesson;
  lesson.self_attention = true;
  lesson.title = Message::of("self.title");
  lesson.lead = lead_of(in, sentence, origin);
  lesson.steps = {words_step(in), matrices_step(in)};
  for (int h = 0; h < in.heads; ++h) {
    HeadSteps(example, h).append_to(lesson.steps);
    const AttentionMatrix& weights = example.heads[static_cast<std::size_t>(h)].weights;
    lesson.picture.maps.push_back({AttentionKind::encoder, 0, h, in.tokens, in.tokens, weights});
  }
  if (in.heads > 1 || in.w_o.rows > 0) lesson.steps.push_back(joining_step(example));
  lesson.picture.source = lesson.picture.target = in.tokens;
  lesson.picture.weights = mean_of(lesson.picture.maps);
  if (in.heads == 1) lesson.picture.maps.clear();
  const WordPair pair = strongest_pair(lesson.picture.weights);
  lesson.closing = {
      Message::of(in.heads > 1 ? "self.closing.heads" : "self.closing",
                  {{"query", in.tokens[static_cast<std::size_t>(pair.query)]},
                   {"key", in.tokens[static_cast<std::size_t>(pair.key)]},
                   {"percent", fmt::format("{:.0f}", 100 * lesson.picture.weights.at(pair.query, pair.key))}})};
  if (in.made_up) lesson.closing.push_back(Message::of("self.closing.made_up"));
  return lesson;
}

}  // namespace fovea::view
