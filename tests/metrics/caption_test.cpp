#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "support/metrics_golden.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Caption, EqualsThePapersFormulas) {
  const auto golden = test::metrics_golden("caption");
  const CaptionFigures result =
      caption_figures(golden["hypotheses"].get<Lines>(), split_references(golden["references"].get<Lines>()));
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(result.bleu[n], golden["bleu"][n].get<double>(), 1e-7) << n;
  EXPECT_NEAR(result.rouge_l, golden["rouge_l"].get<double>(), 1e-9);
  EXPECT_NEAR(result.cider, golden["cider"].get<double>(), 1e-7);
}

TEST(Caption, ByHand) {
  // Two pictures. All of the first caption's words are in its first reference: 2 of 2 words, 1 of 1 pairs; nothing of
  // the second's. So 2 of 4 words, 1 of 2 pairs, no triples at all.
  const CaptionFigures result = caption_figures({"red dog", "old car"}, {{"a red dog", "two men"}, {"", "men run"}});
  const double penalty = std::exp(1 - 5.0 / 4);  // closest lengths: 3 and 2
  EXPECT_NEAR(result.bleu[0], 100 * penalty / 2, 1e-6);
  EXPECT_NEAR(result.bleu[1], 100 * penalty / 2, 1e-6);
  EXPECT_NEAR(result.bleu[2], 100 * penalty * std::cbrt(0.25 * 1e-6), 1e-6);  // COCO's 1e-15 / 1e-9 for 0 / 0
  // P = 1, R = 2/3 and 0 and 0; beta^2 = 1.44.
  EXPECT_NEAR(result.rouge_l, 50 * 2.44 * (2.0 / 3) / (2.0 / 3 + 1.44), 1e-9);
  // Every n-gram is in one of two pictures: weight log 2. Words: 2 / (sqrt 2 sqrt 3); pairs: 1 / (1 sqrt 2).
  const double cosines = 2 / std::sqrt(6.0) + 1 / std::sqrt(2.0);
  EXPECT_NEAR(result.cider, 100 * 10 * cosines / 4 * std::exp(-1.0 / 72) / 2, 1e-9);
}

TEST(Caption, ACaptionEqualToAllItsReferencesScoresMost) {
  const CaptionFigures result =
      caption_figures({"a red dog runs fast", "two men in a car"}, {{"A red dog runs fast.", "Two men in a car"}});
  EXPECT_NEAR(result.bleu[3], 100, 1e-5);
  EXPECT_NEAR(result.rouge_l, 100, 1e-9);
  EXPECT_NEAR(result.cider, 1000, 1e-9);
}

TEST(Caption, AnEmptyCaptionScores0AndALineWithoutReferencesIsAnError) {
  const CaptionFigures result = caption_figures({"", "."}, {{"a dog", "a cat"}});
  EXPECT_LT(result.bleu[0], 1e-3);
  EXPECT_EQ(result.rouge_l, 0);
  EXPECT_EQ(result.cider, 0);
  try {
    (void)caption_figures({"a", "b"}, {{"a", "."}, {"b", ""}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2 has no words in any reference"));
  }
}

TEST(Caption, ATokenizerMakesChineseCount) {
  const CaptionFigures result = caption_figures({"一只小猫。"}, {{"一只小狗"}}, MetricTokenizer::zh);
  EXPECT_NEAR(result.bleu[0], 75, 1e-5);
}

TEST(Caption, SplitsReferencesAtTabs) {
  EXPECT_THAT(split_references({"a b\tc", "d"}), ElementsAre(Lines{"a b", "d"}, Lines{"c", ""}));
  EXPECT_THROW((void)split_references({"a", std::string(100, '\t')}), UsageError);
}

TEST(CaptionWords, AreThoseOfTheTreebankWithoutPunctuation) {
  EXPECT_THAT(caption_words("A man's T-shirt, isn't it?"), ElementsAre("a", "man", "'s", "t-shirt", "is", "n't", "it"));
  EXPECT_THAT(caption_words("The dog 's “ball” -- (red) ..."), ElementsAre("the", "dog", "'s", "ball", "red"));
  EXPECT_THAT(caption_words("They cannot, they’re 2,500.5 & 10:30"),
              ElementsAre("they", "can", "not", "they", "'re", "2,500.5", "&", "10:30"));
  EXPECT_THAT(caption_words("the dogs' u.s. flag. at 5 o'clock"),
              ElementsAre("the", "dogs", "u.s.", "flag", "at", "5", "o'clock"));
  EXPECT_THAT(caption_words("Él está—aquí"), ElementsAre("él", "está", "aquí"));
  EXPECT_THAT(caption_words(" .- '"), ElementsAre());
}

}  // namespace
}  // namespace fovea
