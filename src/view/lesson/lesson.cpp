#include "view/lesson/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "view/lesson/model_lesson.hpp"
#include "view/lesson/speaker.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

constexpr int kDecimals = 2;
constexpr std::size_t kTermsShown = 8;  // of a sum written out

std::string number(double value) {
  return shown_number(value, kDecimals);
}

// A factor of a sum: exact and short where it is round ("0.5"), else to the usual decimals ("0.70" for 0.7034).
std::string factor(double value) {
  int decimals = 0;
  while (decimals < kDecimals &&
         std::abs(value - std::round(value * std::pow(10, decimals)) / std::pow(10, decimals)) > 1e-6) {
    ++decimals;
  }
  const std::string text = shown_number(value, decimals);
  return value < 0 ? fmt::format("({})", text) : text;
}

// One decimal where the numbers are that round, else two.
int decimals_of(const AttentionMatrix& m) {
  const bool round = std::all_of(m.values.begin(), m.values.end(),
                                 [](float v) { return std::abs(v * 10 - std::round(v * 10)) < 1e-5F; });
  return round ? 1 : kDecimals;
}

// "1.5·2 + (−0.5)·1"; long sums lose their middle.
std::string dot_text(const std::vector<double>& a, const std::vector<double>& b) {
  std::string out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a.size() > kTermsShown && i == kTermsShown - 2) {
      out += " + …";
      i = a.size() - 1;
    }
    if (i > 0) out += " + ";
    out += factor(a[i]) + "·" + factor(b[i]);
  }
  return out;
}

std::vector<double> row(const AttentionMatrix& m, std::int64_t r) {
  const auto begin = m.values.begin() + r * m.columns;
  return {begin, begin + m.columns};
}

std::vector<double> column(const AttentionMatrix& m, std::int64_t c) {
  std::vector<double> out;
  for (std::int64_t r = 0; r < m.rows; ++r) out.push_back(m.at(r, c));
  return out;
}

// The pair of different words with the largest weight: what the worked-out numbers are about.
struct Pair {
  std::int64_t from = 0, to = 0;
};

Pair strongest(const AttentionMatrix& weights) {
  Pair best;
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

class Teller {
 public:
  Teller(const WorkedExample& example, const LessonHead& head, LessonLanguage language)
      : e_(example), head_(head), language_(language), say_(language) {}

  Lesson tell() {
    const auto& in = e_.input;
    const auto d = in.w_q.columns / in.heads;
    Lesson lesson;
    lesson.language = say_.tag();
    lesson.same_side = true;
    lesson.picture_title = say_("What each word attended to", "每个词关注了什么");
    lesson.title = say_("Self-attention, step by step", "自注意力，一步一步");
    const std::string heads =
        in.heads == 1 ? say_("one head", "一个头") : say_.fill("{} heads of width {}", "{} 个头，各宽 {}", in.heads, d);
    lesson.lead =
        say_.fill("“{}”: {} tokens, {} numbers each, {}{}; {}", "“{}”：{} 个词，每词 {} 个数，{}{}；{}", head_.sentence,
                  in.tokens.size(), in.x.columns, heads, in.causal ? say_(", causal", "，因果") : "", head_.origin);
    lesson.steps.push_back(embeddings());
    lesson.steps.push_back(matrices());
    for (int h = 0; h < in.heads; ++h) {
      const WorkedHead& head = e_.heads[static_cast<std::size_t>(h)];
      lesson.steps.push_back(projections(h, head));
      lesson.steps.push_back(scores(h, head));
      lesson.steps.push_back(scaling(h, head, static_cast<double>(d)));
      lesson.steps.push_back(softmax(h, head));
      lesson.steps.push_back(output(h, head));
      lesson.picture.maps.push_back({AttentionKind::encoder, 0, h, in.tokens, in.tokens, head.weights});
    }
    if (in.heads > 1 || in.w_o.rows > 0) lesson.steps.push_back(joining());
    lesson.picture.source = lesson.picture.target = in.tokens;
    lesson.picture.weights = mean_of(lesson.picture.maps);
    if (in.heads == 1) lesson.picture.maps.clear();
    const Pair pair = strongest(lesson.picture.weights);
    lesson.closing = say_.fill(
        "{} attends most to {}: {:.0f}% of its new row comes from there{}.{}",
        "“{}”最关注“{}”：新向量的 {:.0f}% 来自那里{}。{}", word(pair.from), word(pair.to),
        100 * lesson.picture.weights.at(pair.from, pair.to),
        in.heads > 1 ? say_(", on average over the heads", "（各头平均）") : "",
        in.made_up
            ? say_(" The numbers are made up; in a trained model they are such that words attend where it helps.",
                   "这些数是编的；训练好的模型里，词会去关注有用的地方。")
            : "");
    return lesson;
  }

 private:
  [[nodiscard]] const std::string& word(std::int64_t i) const { return e_.input.tokens[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::string of_head(int h) const {
    return e_.input.heads == 1 ? "" : say_.fill("Head {}: ", "头 {}：", h + 1);
  }
  // Tables of different heads have different ids; web/pages/lesson.js reads them.
  [[nodiscard]] NumberTable table(const char* name, const AttentionMatrix& m, bool words_down, bool words_across,
                                  int head = -1) const {
    NumberTable t;
    t.name = name;
    t.id = head < 0 ? name : fmt::format("{}.{}", name, head);
    t.numbers = m;
    t.decimals = head < 0 ? decimals_of(m) : kDecimals;
    if (words_down) t.row_labels = e_.input.tokens;
    if (words_across) t.column_labels = e_.input.tokens;
    return t;
  }

  [[nodiscard]] LessonStep embeddings() const {
    LessonStep step{
        say_("Every word becomes a row of numbers", "每个词变成一行数"),
        "X",
        say_.fill("The embedding of a word is a row of {} numbers. ", "词的嵌入是一行 {} 个数。", e_.input.x.columns),
        {table("X", e_.input.x, true, false)},
        {}};
    step.text += e_.input.made_up
                     ? say_("A model learns them; these are made up, and round, so that every step can be followed.",
                            "模型会学到它们；这里是编的整齐的数，便于一步步验算。")
                     : say_("These were given.", "这些数是给定的。");
    return step;
  }

  [[nodiscard]] LessonStep matrices() const {
    const auto& in = e_.input;
    LessonStep step{
        say_("Three matrices that a model learns", "模型学到的三个矩阵"),
        "W_Q, W_K, W_V",
        {},
        {table("W_Q", in.w_q, false, false), table("W_K", in.w_k, false, false), table("W_V", in.w_v, false, false)},
        {}};
    step.text = say_(
        "They turn the row of a word into what it asks for (its query), what it is found by (its key) and what it "
        "passes on (its value).",
        "它们把词的一行数变成：它要找什么（查询）、凭什么被找到（键）、传递什么（值）。");
    if (in.heads > 1) {
      step.text += say_.fill(" Their columns are shared out among the heads: head 1 has columns 1 to {}, and so on.",
                             "各列分给各头：头 1 用第 1 到 {} 列，依此类推。", in.w_q.columns / in.heads);
    }
    return step;
  }

  [[nodiscard]] LessonStep projections(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    const auto d = head.q.columns;
    return {
        of_head(h) + say_("Queries, keys and values", "查询、键和值"),
        "Q = X W_Q    K = X W_K    V = X W_V",
        say_("Each number is the product of a word's row with a column of the matrix.",
             "每个数是词的一行与矩阵一列的乘积之和。"),
        {table("Q", head.q, true, false, h), table("K", head.k, true, false, h), table("V", head.v, true, false, h)},
        {fmt::format("Q[{}, 1] = {} = {}", word(pair.from),
                     dot_text(row(e_.input.x, pair.from), column(e_.input.w_q, h * d)),
                     number(head.q.at(pair.from, 0)))}};
  }

  [[nodiscard]] LessonStep scores(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    return {of_head(h) + say_("How well does each key answer each query?", "每个键与每个查询有多相配？"),
            "S = Q Kᵀ",
            say_("The score of a word (row) for a word (column) is the dot product of the one's query and the other's "
                 "key: large where they point the same way.",
                 "一个词（行）对另一个词（列）的分数，是前者的查询与后者的键的点积：方向越一致越大。"),
            {table("S", head.scores, true, true, h)},
            {fmt::format("S[{}, {}] = {} = {}", word(pair.from), word(pair.to),
                         dot_text(row(head.q, pair.from), row(head.k, pair.to)),
                         number(head.scores.at(pair.from, pair.to)))}};
  }

  [[nodiscard]] LessonStep scaling(int h, const WorkedHead& head, double d) const {
    const Pair pair = strongest(head.weights);
    LessonStep step{of_head(h) + say_("Divided by the square root of the width", "除以宽度的平方根"),
                    e_.input.causal ? say_("S / √d, later words −∞", "S / √d，后面的词 −∞") : "S / √d",
                    {},
                    {table("S/√d", head.scaled, true, true, h)},
                    {}};
    step.text = say_.fill(
        "Queries and keys have d = {:.0f} numbers, so √d = {}. Sums of more products are larger; without this, a wide "
        "model's softmax would put everything on one word and stop learning.",
        "查询和键各有 d = {:.0f} 个数，√d = {}。相加的乘积越多，和越大；不除的话，宽模型的 softmax "
        "会全压在一个词上，学不动。",
        d, number(std::sqrt(d)));
    if (e_.input.causal) {
      step.text +=
          say_(" Causal: a word may attend to itself and to earlier words; what comes later gets −∞, and so weight 0.",
               "因果：词只能关注自己和前面的词；后面的得 −∞，权重为 0。");
    }
    step.examples = {fmt::format("{} / {} = {}", number(head.scores.at(pair.from, pair.to)), number(std::sqrt(d)),
                                 number(head.scaled.at(pair.from, pair.to)))};
    return step;
  }

  [[nodiscard]] LessonStep softmax(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    NumberTable weights = table("A", head.weights, true, true, h);
    weights.weights = true;
    LessonStep step{
        of_head(h) + say_("From scores to weights", "从分数到权重"),
        "A = softmax(S / √d)",
        say_("Row by row: the row's largest score is taken from all, so that nothing overflows; then e to the power of "
             "each, divided by the row's sum. Every weight is positive, every row sums to 1: it says what that word "
             "attends to.",
             "逐行：先都减去该行最大的分数（防止溢出），再取 e 的幂，除以该行之和。权重都为正，每行之和为 "
             "1：它说明这个词关注什么。"),
        {weights},
        {softmax_example(fmt::format("A[{}, {}]", word(pair.from), word(pair.to)), row(head.scaled, pair.from), pair.to,
                         head.weights.at(pair.from, pair.to), language_, kDecimals)}};
    return step;
  }

  [[nodiscard]] LessonStep output(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    std::string terms;
    for (std::int64_t j = 0; j < head.weights.columns && j < static_cast<std::int64_t>(kTermsShown); ++j) {
      if (head.weights.at(pair.from, j) < 0.005) continue;
      terms += fmt::format("{}{}·V[{}]", terms.empty() ? "" : " + ", number(head.weights.at(pair.from, j)), word(j));
    }
    if (head.weights.columns > static_cast<std::int64_t>(kTermsShown)) terms += " + …";
    return {
        of_head(h) + say_("Each word reads the others", "每个词读取其他词"),
        "Z = A V",
        say_("The new row of a word is the mean of all values, weighted by its attention.",
             "词的新一行是所有值按注意力权重的平均。"),
        {table("Z", head.output, true, false, h)},
        {fmt::format("Z[{}] = {}", word(pair.from), terms),
         fmt::format("Z[{}, 1] = {} = {}", word(pair.from), dot_text(row(head.weights, pair.from), column(head.v, 0)),
                     number(head.output.at(pair.from, 0)))}};
  }

  [[nodiscard]] LessonStep joining() const {
    LessonStep step{
        say_("The heads join", "各头合并"),
        "O = [Z₁ … Z_H] W_O",
        say_("The heads' outputs stand side by side, and one more learned matrix mixes them into the output.",
             "各头的输出并排放好，再由一个学到的矩阵混合成输出。"),
        {},
        {}};
    if (e_.input.heads == 1) {
      step.title = say_("The output is mixed once more", "输出再混合一次");
      step.formula = "O = Z W_O";
      step.text = say_("One more learned matrix gives the output.", "再乘一个学到的矩阵得到输出。");
    }
    step.tables = {table("[Z]", e_.joined, true, false)};
    if (e_.input.w_o.rows > 0) {
      step.tables.push_back(table("W_O", e_.input.w_o, false, false));
      step.tables.push_back(table("O", e_.output, true, false));
      step.examples = {fmt::format("O[{}, 1] = {} = {}", word(0), dot_text(row(e_.joined, 0), column(e_.input.w_o, 0)),
                                   number(e_.output.at(0, 0)))};
    }
    return step;
  }

  const WorkedExample& e_;
  LessonHead head_;
  LessonLanguage language_;
  Speaker say_;
};

}  // namespace

LessonLanguage lesson_language(std::string_view name) {
  if (name == "en") return LessonLanguage::english;
  if (name == "zh") return LessonLanguage::chinese;
  throw UsageError(fmt::format("language: \"{}\" is not one of en, zh", name));
}

LessonLanguage language_of(std::string_view sentence) {
  // The first byte of U+4E00 to U+9FFF in UTF-8.
  const bool chinese = std::any_of(sentence.begin(), sentence.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xE4 && byte <= 0xE9;
  });
  return chinese ? LessonLanguage::chinese : LessonLanguage::english;
}

Lesson lesson(const WorkedExample& example, const LessonHead& head, LessonLanguage language) {
  return Teller(example, head, language).tell();
}

Lesson lesson(const WorkedScores& worked, LessonLanguage language) {
  const Speaker say(language);
  const auto count = static_cast<std::int64_t>(worked.scores.size());
  std::vector<std::string> keys;
  for (std::int64_t j = 0; j < count; ++j) keys.push_back(say.fill("key {}", "键 {}", j + 1));
  const auto line = [&](const char* name, const auto& values, int decimals) {
    NumberTable t;
    t.name = name;
    t.numbers = {1, count, {values.begin(), values.end()}};
    t.column_labels = keys;
    t.decimals = decimals;
    return t;
  };
  const bool divided = worked.dim > 0;
  const double root = divided ? std::sqrt(worked.dim) : 1;
  const std::string symbol = divided ? "s / √d" : "s";
  Lesson lesson;
  lesson.language = say.tag();
  lesson.title = say("From scores to weights", "从分数到权重");
  lesson.lead = divided ? say.fill("{} scores of one query, keys of width {:g}",
                                   "一个查询的 {} 个分数，键的宽度为 {:g}", count, worked.dim)
                        : say.fill("{} scores of one query", "一个查询的 {} 个分数", count);
  lesson.steps.push_back({say("The scores", "分数"),
                          "s",
                          say("How well each key answers the query.", "每个键与查询有多相配。"),
                          {line("s", worked.scores, 2)},
                          {}});
  if (divided) {
    lesson.steps.push_back(
        {say("Divided by the square root of the width", "除以宽度的平方根"),
         "s / √d",
         fmt::format("d = {:g}, √d = {:.4f}.", worked.dim, root),
         {line("s/√d", worked.scaled, 4)},
         {fmt::format("{} / {:.4f} = {}", number(worked.scores[0]), root, shown_number(worked.scaled[0], 4))}});
  }
  NumberTable powers = line("exp", worked.powers, 4);
  std::string sum_text;
  for (std::size_t i = 0; i < worked.powers.size(); ++i) {
    if (i == kTermsShown) {
      sum_text += " + …";
      break;
    }
    sum_text += (i > 0 ? " + " : "") + shown_number(static_cast<float>(worked.powers[i]), 4);  // as in the table
  }
  lesson.steps.push_back(
      {say("e to the power of each", "取 e 的幂"),
       worked.shift == 0 ? fmt::format("exp({})", symbol) : fmt::format("exp({} − max)", symbol),
       worked.shift == 0
           ? say("All become positive; larger ones grow apart. A program takes the largest from all first, which "
                 "changes no "
                 "weight and keeps exp from overflowing.",
                 "都变为正数，差距拉大。程序会先都减去最大值：权重不变，且不会溢出。")
           : say.fill("The largest, {:.6g}, is taken from all first: the weights stay the same, and nothing overflows.",
                      "先都减去最大值 {:.6g}：权重不变，且不会溢出。", worked.shift),
       {powers},
       {fmt::format("sum = {} = {}", sum_text, shown_number(worked.sum, 4))}});
  NumberTable weights = line("weights", worked.weights, 4);
  weights.weights = true;
  lesson.steps.push_back({say("Divided by their sum", "除以总和"),
                          fmt::format("softmax({})", symbol),
                          say("The weights: positive, and together 1.", "权重：都为正，总和为 1。"),
                          {weights},
                          {fmt::format("{} / {} = {}", shown_number(worked.powers[0], 4), shown_number(worked.sum, 4),
                                       shown_number(worked.weights[0], 4))}});
  if (worked.shift == 0) {  // the same as it is computed
    lesson.steps.back().examples.push_back(
        softmax_example(say("as a program computes it, with the largest taken from all: softmax",
                            "程序的算法，先都减去最大值：softmax"),
                        {worked.scaled.begin(), worked.scaled.end()}, 0, worked.weights[0], language, 4));
  }
  const auto best = std::max_element(worked.weights.begin(), worked.weights.end()) - worked.weights.begin();
  lesson.closing = say.fill("The query attends most to key {}, with weight {:.4f}.", "查询最关注键 {}，权重 {:.4f}。",
                            best + 1, worked.weights[static_cast<std::size_t>(best)]);
  return lesson;
}

}  // namespace fovea::view
