#include "view/lesson/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  Teller(const WorkedExample& example, std::string origin) : e_(example), origin_(std::move(origin)) {}

  Lesson tell() {
    const auto& in = e_.input;
    const auto d = in.w_q.columns / in.heads;
    Lesson lesson;
    lesson.title = "Self-attention, step by step";
    lesson.lead = fmt::format("{} tokens, {} numbers each, {}{}: {}", in.tokens.size(), in.x.columns,
                              in.heads == 1 ? "one head" : fmt::format("{} heads", in.heads),
                              in.causal ? ", causal" : "", origin_);
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
    lesson.closing = fmt::format(
        "{} looked most at {}: {:.0f}% of its new row comes from there{}.{}", word(pair.from), word(pair.to),
        100 * lesson.picture.weights.at(pair.from, pair.to), in.heads > 1 ? ", on average over the heads" : "",
        in.made_up ? " The numbers are made up; in a trained model they are such that words look where it helps." : "");
    return lesson;
  }

 private:
  [[nodiscard]] const std::string& word(std::int64_t i) const { return e_.input.tokens[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::string of_head(int h) const { return e_.input.heads == 1 ? "" : fmt::format("Head {}: ", h + 1); }
  // Tables of different heads have different ids; web/explain.js reads them.
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
    LessonStep step{"Every word becomes a row of numbers", "X", {}, {table("X", e_.input.x, true, false)}, {}};
    step.text = fmt::format("The embedding of a word is a row of {} numbers. ", e_.input.x.columns);
    step.text += e_.input.made_up
                     ? "A model learns them; these are made up, and round, so that every step can be followed."
                     : "These were given.";
    return step;
  }

  [[nodiscard]] LessonStep matrices() const {
    const auto& in = e_.input;
    LessonStep step{
        "Three matrices that a model learns",
        "W_Q, W_K, W_V",
        {},
        {table("W_Q", in.w_q, false, false), table("W_K", in.w_k, false, false), table("W_V", in.w_v, false, false)},
        {}};
    step.text =
        "They turn the row of a word into what it asks for (its query), what it is found by (its key) and what it "
        "passes "
        "on (its value).";
    if (in.heads > 1) {
      step.text += fmt::format(" Their columns are shared out among the heads: head 1 has columns 1 to {}, and so on.",
                               in.w_q.columns / in.heads);
    }
    return step;
  }

  [[nodiscard]] LessonStep projections(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    const auto d = head.q.columns;
    return {
        of_head(h) + "Queries, keys and values",
        "Q = X W_Q    K = X W_K    V = X W_V",
        "Each number is the product of a word's row with a column of the matrix.",
        {table("Q", head.q, true, false, h), table("K", head.k, true, false, h), table("V", head.v, true, false, h)},
        {fmt::format("Q[{}, 1] = {} = {}", word(pair.from),
                     dot_text(row(e_.input.x, pair.from), column(e_.input.w_q, h * d)),
                     number(head.q.at(pair.from, 0)))}};
  }

  [[nodiscard]] LessonStep scores(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    return {of_head(h) + "How well does each key answer each query?",
            "S = Q Kᵀ",
            "The score of a word (row) for a word (column) is the dot product of the one's query and the other's key: "
            "large where they point the same way.",
            {table("S", head.scores, true, true, h)},
            {fmt::format("S[{}, {}] = {} = {}", word(pair.from), word(pair.to),
                         dot_text(row(head.q, pair.from), row(head.k, pair.to)),
                         number(head.scores.at(pair.from, pair.to)))}};
  }

  [[nodiscard]] LessonStep scaling(int h, const WorkedHead& head, double d) const {
    const Pair pair = strongest(head.weights);
    LessonStep step{of_head(h) + "Divided by the square root of the width",
                    e_.input.causal ? "S / √d, later words −∞" : "S / √d",
                    {},
                    {table("S/√d", head.scaled, true, true, h)},
                    {}};
    step.text = fmt::format(
        "Queries and keys have d = {:.0f} numbers, so √d = {}. Sums of more products are larger; without this, a wide "
        "model's softmax would put everything on one word and stop learning.",
        d, number(std::sqrt(d)));
    if (e_.input.causal) {
      step.text +=
          " Causal: a word may look at itself and at earlier words; what comes later gets −∞, and so weight 0.";
    }
    step.examples = {fmt::format("{} / {} = {}", number(head.scores.at(pair.from, pair.to)), number(std::sqrt(d)),
                                 number(head.scaled.at(pair.from, pair.to)))};
    return step;
  }

  [[nodiscard]] LessonStep softmax(int h, const WorkedHead& head) const {
    const Pair pair = strongest(head.weights);
    NumberTable weights = table("A", head.weights, true, true, h);
    weights.weights = true;
    const std::vector<double> scaled = row(head.scaled, pair.from);
    double sum = 0;
    for (const double s : scaled) sum += std::exp(s);
    LessonStep step{
        of_head(h) + "From scores to weights",
        "A = softmax(S / √d)",
        "Row by row: e to the power of each score, divided by the row's sum. Every weight is positive, every row "
        "sums to 1: it says where that word looks.",
        {weights},
        {}};
    if (sum < 1e6) {
      std::string terms;
      for (std::size_t i = 0; i < scaled.size(); ++i) {
        if (!std::isfinite(scaled[i])) continue;
        if (i >= kTermsShown) {
          terms += " + …";
          break;
        }
        terms += (terms.empty() ? "e^" : " + e^") + number(scaled[i]);
      }
      const double mine = head.scaled.at(pair.from, pair.to);
      step.examples = {fmt::format("A[{}, {}] = e^{} / ({}) = {} / {} = {}", word(pair.from), word(pair.to),
                                   number(mine), terms, number(std::exp(mine)), number(sum),
                                   number(head.weights.at(pair.from, pair.to)))};
    }
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
        of_head(h) + "Each word reads the others",
        "Z = A V",
        "The new row of a word is the mean of all values, weighted by where it looked.",
        {table("Z", head.output, true, false, h)},
        {fmt::format("Z[{}] = {}", word(pair.from), terms),
         fmt::format("Z[{}, 1] = {} = {}", word(pair.from), dot_text(row(head.weights, pair.from), column(head.v, 0)),
                     number(head.output.at(pair.from, 0)))}};
  }

  [[nodiscard]] LessonStep joining() const {
    LessonStep step{"The heads join",
                    "O = [Z₁ … Z_H] W_O",
                    "The heads' outputs stand side by side, and one more learned matrix mixes them into the output.",
                    {},
                    {}};
    if (e_.input.heads == 1) {
      step.title = "The output is mixed once more";
      step.formula = "O = Z W_O";
      step.text = "One more learned matrix gives the output.";
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
  std::string origin_;
};

}  // namespace

Lesson lesson(const WorkedExample& example, const std::string& origin) {
  return Teller(example, origin).tell();
}

Lesson lesson(const WorkedScores& worked) {
  const auto count = static_cast<std::int64_t>(worked.scores.size());
  std::vector<std::string> keys;
  for (std::int64_t j = 0; j < count; ++j) keys.push_back(fmt::format("key {}", j + 1));
  const auto line = [&](const char* name, const auto& values, int decimals) {
    NumberTable t;
    t.name = name;
    t.numbers = {1, count, {values.begin(), values.end()}};
    t.column_labels = keys;
    t.decimals = decimals;
    return t;
  };
  const double root = std::sqrt(worked.dim);
  Lesson lesson;
  lesson.title = "From scores to weights";
  lesson.lead = fmt::format("{} scores of one query, keys of width {:g}", count, worked.dim);
  lesson.steps.push_back(
      {"The scores", "s", "How well each key answers the query.", {line("s", worked.scores, 2)}, {}});
  lesson.steps.push_back(
      {"Divided by the square root of the width",
       "s / √d",
       fmt::format("d = {:g}, √d = {:.4f}.", worked.dim, root),
       {line("s/√d", worked.scaled, 4)},
       {fmt::format("{} / {:.4f} = {}", number(worked.scores[0]), root, shown_number(worked.scaled[0], 4))}});
  NumberTable powers = line("exp", worked.powers, 4);
  std::string sum_text;
  for (std::size_t i = 0; i < worked.powers.size(); ++i) {
    if (i == kTermsShown) {
      sum_text += " + …";
      break;
    }
    sum_text += (i > 0 ? " + " : "") + shown_number(worked.powers[i], 4);
  }
  lesson.steps.push_back(
      {"e to the power of each",
       worked.shift == 0 ? "exp(s / √d)" : "exp(s / √d − max)",
       worked.shift == 0
           ? "All become positive; larger ones grow apart."
           : fmt::format(
                 "The largest, {:.6g}, is taken from all first: the weights stay the same, and nothing overflows.",
                 worked.shift),
       {powers},
       {fmt::format("sum = {} = {}", sum_text, shown_number(worked.sum, 4))}});
  NumberTable weights = line("weights", worked.weights, 4);
  weights.weights = true;
  lesson.steps.push_back({"Divided by their sum",
                          "softmax(s / √d)",
                          "The weights: positive, and together 1.",
                          {weights},
                          {fmt::format("{} / {} = {}", shown_number(worked.powers[0], 4), shown_number(worked.sum, 4),
                                       shown_number(worked.weights[0], 4))}});
  const auto best = std::max_element(worked.weights.begin(), worked.weights.end()) - worked.weights.begin();
  lesson.closing = fmt::format("The query looks most at key {}, with weight {:.4f}.", best + 1,
                               worked.weights[static_cast<std::size_t>(best)]);
  return lesson;
}

}  // namespace fovea::view
