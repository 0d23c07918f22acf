#include "view/lesson/worked.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "fovea/error.hpp"

namespace fovea::view {
namespace {

using Grid = std::vector<std::vector<double>>;

Grid grid(const AttentionMatrix& m) {
  Grid g(static_cast<std::size_t>(m.rows));
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t c = 0; c < m.columns; ++c) g[static_cast<std::size_t>(r)].push_back(m.at(r, c));
  }
  return g;
}

Grid times(const Grid& a, const Grid& b) {
  Grid c(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b[0].size(); ++j) {
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

void expect_near(const AttentionMatrix& actual, const Grid& expected, const char* what) {
  ASSERT_EQ(actual.rows, static_cast<std::int64_t>(expected.size())) << what;
  for (std::int64_t r = 0; r < actual.rows; ++r) {
    for (std::int64_t c = 0; c < actual.columns; ++c) {
      EXPECT_NEAR(actual.at(r, c), expected[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)], 2e-5)
          << what << " " << r << " " << c;
    }
  }
}

// The definition, in double and with nothing of Fovea's.
void check_by_definition(const WorkedExample& e) {
  const WorkedInput& in = e.input;
  const std::size_t words = in.tokens.size();
  const std::size_t d = static_cast<std::size_t>(in.w_q.columns / in.heads);
  const Grid q = times(grid(in.x), grid(in.w_q));
  const Grid k = times(grid(in.x), grid(in.w_k));
  const Grid v = times(grid(in.x), grid(in.w_v));
  const std::size_t dv = v[0].size() / static_cast<std::size_t>(in.heads);
  Grid joined(words, std::vector<double>(v[0].size(), 0.0));
  for (std::size_t h = 0; h < e.heads.size(); ++h) {
    Grid weights(words, std::vector<double>(words, 0.0));
    Grid scores = weights;
    for (std::size_t i = 0; i < words; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < words; ++j) {
        for (std::size_t c = 0; c < d; ++c) scores[i][j] += q[i][h * d + c] * k[j][h * d + c];
        if (in.causal && j > i) continue;
        weights[i][j] = std::exp(scores[i][j] / std::sqrt(static_cast<double>(d)));
        sum += weights[i][j];
      }
      for (double& w : weights[i]) w /= sum;
      for (std::size_t c = 0; c < dv; ++c) {
        for (std::size_t j = 0; j < words; ++j) joined[i][h * dv + c] += weights[i][j] * v[j][h * dv + c];
      }
    }
    expect_near(e.heads[h].scores, scores, "scores");
    expect_near(e.heads[h].weights, weights, "weights");
  }
  expect_near(e.joined, joined, "joined");
  expect_near(e.output, in.w_o.rows > 0 ? times(joined, grid(in.w_o)) : joined, "output");
}

TEST(Worked, EqualsTheDefinition) {
  const std::vector<std::string> tokens = {"the", "cat", "saw", "the", "dog", "."};
  for (const bool causal : {false, true}) {
    for (const auto& [dim, heads] : {std::pair{4, 1}, {4, 2}, {9, 3}, {1, 1}, {16, 4}, {33, 1}}) {
      WorkedInput in = made_up_input(tokens, dim, heads, 5);
      in.causal = causal;
      check_by_definition(work(in));
    }
  }
}

TEST(Worked, ValuesMayBeOfAnotherWidth) {
  WorkedInput in = made_up_input({"a", "b", "c"}, 4, 2, 1);
  in.w_v = {4, 6, std::vector<float>(24, 0.5F)};
  in.w_o = {6, 3, std::vector<float>(18, -1.0F)};
  const WorkedExample e = work(in);
  check_by_definition(e);
  EXPECT_EQ(e.output.columns, 3);
}

TEST(Worked, NamesTheMatrixThatDoesNotFit) {
  const auto complaint = [](const WorkedInput& in) -> std::string {
    try {
      (void)work(in);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  const WorkedInput good = made_up_input({"a", "b"}, 4, 1, 1);
  WorkedInput in = good;
  in.tokens.emplace_back("c");
  EXPECT_THAT(complaint(in), testing::HasSubstr("X is [2,4], but must have 3 rows"));
  in = good;
  in.w_k = {3, 4, std::vector<float>(12)};
  EXPECT_THAT(complaint(in), testing::HasSubstr("W_K is [3,4]"));
  in = good;
  in.w_k = {4, 3, std::vector<float>(12)};
  EXPECT_THAT(complaint(in), testing::HasSubstr("W_K has 3 columns, W_Q 4"));
  in = good;
  in.heads = 3;
  EXPECT_THAT(complaint(in), testing::HasSubstr("3 heads"));
  in = good;
  in.w_o = {5, 4, std::vector<float>(20)};
  EXPECT_THAT(complaint(in), testing::HasSubstr("W_O is [5,4]"));
}

TEST(MadeUpInput, GivesEqualWordsEqualRowsAndRoundNumbers) {
  const WorkedInput in = made_up_input({"the", "cat", "the"}, 6, 2, 9);
  for (int c = 0; c < 6; ++c) EXPECT_EQ(in.x.at(0, c), in.x.at(2, c));
  for (const AttentionMatrix* m : {&in.x, &in.w_q, &in.w_k, &in.w_v, &in.w_o}) {
    for (const float v : m->values) EXPECT_EQ(v * 2, std::round(v * 2));
  }
  EXPECT_EQ(made_up_input({"the"}, 6, 2, 9).w_q.values, in.w_q.values);
  EXPECT_NE(made_up_input({"the"}, 6, 2, 10).w_q.values, in.w_q.values);
}

TEST(WordsOf, SplitsWordsAndMarksInAnyLanguage) {
  using testing::ElementsAre;
  EXPECT_THAT(words_of("看小猫，它好可爱"), ElementsAre("看", "小猫", "，", "它", "好", "可爱"));
  EXPECT_THAT(words_of("注意力机制模仿了生物观察行为"),
              ElementsAre("注意力", "机制", "模仿", "了", "生物", "观察", "行为"));
  EXPECT_THAT(words_of("我爱 C++20。"), ElementsAre("我", "爱", "C", "+", "+", "20", "。"));
  EXPECT_THAT(words_of("It isn't well-known, übrigens!"),
              ElementsAre("It", "isn't", "well-known", ",", "übrigens", "!"));
  EXPECT_THAT(words_of("  \t "), testing::IsEmpty());
  EXPECT_THROW((void)words_of("a\xff"), UsageError);
}

TEST(WorkedScores, EqualTheTextbook) {
  const WorkedScores w = work_scores({7, 5, 4, 9, 11}, 64);
  const std::vector<double> expected = {0.1852251, 0.1442534, 0.1273032, 0.2378337, 0.3053845};
  ASSERT_EQ(w.weights.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(w.weights[i], expected[i], 2e-6);
  EXPECT_NEAR(w.sum, 12.951136, 1e-5);
  EXPECT_EQ(w.shift, 0);
}

TEST(WorkedScores, StayFiniteForHugeScores) {
  const WorkedScores w = work_scores({1e30F, -1e30F, 1e30F}, 1);
  EXPECT_THAT(w.weights, testing::ElementsAre(0.5F, 0.0F, 0.5F));
  EXPECT_EQ(w.sum, 2);
}

}  // namespace
}  // namespace fovea::view
