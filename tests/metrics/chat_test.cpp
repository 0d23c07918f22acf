#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "support/metrics_golden.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;

TEST(Chat, EqualsTheFormulas) {
  const auto golden = test::metrics_golden("caption");
  const ChatFigures result =
      chat_figures(golden["hypotheses"].get<Lines>(), split_references(golden["references"].get<Lines>()));
  EXPECT_NEAR(result.f1, golden["chat"]["f1"].get<double>(), 1e-9);
  EXPECT_NEAR(result.distinct_1, golden["chat"]["distinct_1"].get<double>(), 1e-9);
  EXPECT_NEAR(result.distinct_2, golden["chat"]["distinct_2"].get<double>(), 1e-9);
}

TEST(Chat, ByHand) {
  // "cat sat" and "cat sat down": P = 1, R = 2/3. The second line shares nothing.
  const ChatFigures result = chat_figures({"The cat sat!", "no no no"}, {{"a cat sat down", "yes"}});
  EXPECT_NEAR(result.f1, 40, 1e-9);
  EXPECT_NEAR(result.distinct_1, 100 * 3.0 / 5, 1e-9);
  EXPECT_NEAR(result.distinct_2, 100 * 2.0 / 3, 1e-9);
  const ChatFigures silent = chat_figures({"", "the"}, {{"", "the"}});
  EXPECT_EQ(silent.f1, 0);
  EXPECT_EQ(silent.distinct_1, 0);
}

TEST(ChatWords, DropCasePunctuationAndArticles) {
  EXPECT_THAT(chat_words("I don't know, an Apple; the A-team_a!"),
              ElementsAre("i", "don", "t", "know", "apple", "team"));
  EXPECT_THAT(chat_words("It’s thé «the» anthem"), ElementsAre("it’s", "thé", "«", "»", "anthem"));
  EXPECT_THAT(chat_words("…"), ElementsAre("…"));  // not ASCII: ParlAI keeps it
}

TEST(ChatWords, OfChineseAreCharactersOrTheTokenizers) {
  EXPECT_THAT(chat_words("你好，“the” 世界 2020！"), ElementsAre("你", "好", "世", "界", "2020"));
  EXPECT_THAT(chat_words("你好，世界 2020！", MetricTokenizer::zh), ElementsAre("你", "好", "世", "界", "2020"));
  EXPECT_THAT(chat_words("你好 ok！", MetricTokenizer::character), ElementsAre("你", "好", "o", "k"));
}

TEST(Perplexity, IsTheExponentOfTheMeanPerToken) {
  const std::vector<double> log_probabilities{std::log(0.25), 2 * std::log(0.125)};
  const std::vector<std::int64_t> tokens{1, 1};
  EXPECT_NEAR(perplexity(log_probabilities, tokens), 16, 1e-9);  // (4 * 64)^(1/2)
  EXPECT_THROW((void)perplexity(std::vector<double>{0.5}, std::vector<std::int64_t>{1}), UsageError);
  EXPECT_THROW((void)perplexity(std::vector<double>{std::nan("")}, std::vector<std::int64_t>{1}), UsageError);
  EXPECT_THROW(
      (void)perplexity(std::vector<double>{-std::numeric_limits<double>::infinity()}, std::vector<std::int64_t>{1}),
      UsageError);
  EXPECT_THROW((void)perplexity(std::vector<double>{-1}, std::vector<std::int64_t>{0}), UsageError);
  EXPECT_THROW((void)perplexity(std::vector<double>{-1}, std::vector<std::int64_t>{}), UsageError);
}

TEST(Baselines, TheMostFrequentLineIsTheFirstOfEquals) {
  const FrequentLine best = most_frequent_line({"b", "a ", "a", "b", "c"});
  EXPECT_EQ(best.line, "b");
  EXPECT_EQ(best.count, 2);
  EXPECT_THROW((void)most_frequent_line({}), UsageError);
}

TEST(Baselines, RandomLinesDependOnTheSeedAlone) {
  Lines lines;
  for (int i = 0; i < 50; ++i) lines.push_back(std::to_string(i));
  EXPECT_EQ(random_lines(lines, 20, 3), random_lines(lines, 20, 3));
  EXPECT_NE(random_lines(lines, 20, 3), random_lines(lines, 20, 4));
  EXPECT_EQ(random_lines({"only"}, 3, 1), (Lines{"only", "only", "only"}));
  EXPECT_THROW((void)random_lines({}, 1, 1), UsageError);
}

TEST(Baselines, CountsLinesThatAreInBoth) {
  EXPECT_EQ(count_shared_lines({"a", "a ", "b", "c"}, {"a", "c", "d"}), 3);
}

}  // namespace
}  // namespace fovea
