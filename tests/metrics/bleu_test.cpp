// BLEU against the figures sacreBLEU publishes for its own tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "fovea/version.hpp"

namespace fovea {
namespace {

using Smoothing = BleuOptions::Smoothing;
using testing::ElementsAre;

const Lines hypotheses{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const References references{{"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
                            {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};

TEST(Bleu, EqualsSacrebleuOnSeveralReferences) {
  const Bleu result = bleu(hypotheses, references);
  EXPECT_NEAR(result.score, 48.530827, 1e-6);
  EXPECT_EQ(result.signature, "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2-fovea-" + std::string(version()));
  EXPECT_EQ(result.details(), "82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)");
  EXPECT_NEAR(bleu(hypotheses, references, {.tokenize = MetricTokenizer::none}).score, 49.1919566, 1e-6);
  EXPECT_NEAR(bleu(hypotheses, references, {.smoothing = Smoothing::none}).score, 48.530827, 1e-6);
}

TEST(Bleu, EqualsSacrebleuForEachSmoothingAndTokenizerOnASentence) {
  const Lines hypothesis{"Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"};
  const References reference{{"producţia de zahăr brut se exprimă în zahăr alb;"}};
  const auto score = [&](BleuOptions how) {
    how.effective_order = true;
    return bleu(hypothesis, reference, how).score;
  };
  EXPECT_NEAR(score({}), 8.493, 1e-3);
  EXPECT_NEAR(score({.smoothing = Smoothing::none}), 0, 1e-3);
  EXPECT_NEAR(score({.smoothing = Smoothing::floor}), 4.51688, 1e-3);
  EXPECT_NEAR(score({.smoothing = Smoothing::floor, .smoothing_value = 0.5}), 10.10, 1e-3);
  EXPECT_NEAR(score({.smoothing = Smoothing::add_k}), 14.882, 1e-3);
  EXPECT_NEAR(score({.smoothing = Smoothing::add_k, .smoothing_value = 2}), 21.389, 1e-3);
  EXPECT_NEAR(score({.tokenize = MetricTokenizer::none}), 7.347, 1e-3);
  EXPECT_NEAR(score({.tokenize = MetricTokenizer::character}), 40.8759, 1e-3);
  EXPECT_NEAR(score({.tokenize = MetricTokenizer::character, .lowercase = true}), 42.0267, 1e-3);
}

TEST(Bleu, OfReferencesAsNearInLengthTheShorterCounts) {
  for (const References& both : {References{{"a b"}, {"a b c d"}}, References{{"a b c d"}, {"a b"}}}) {
    EXPECT_EQ(bleu({"a b c"}, both).reference_words, 2);
  }
  EXPECT_EQ(bleu({"a b c"}, {{"a"}, {"a b c d"}}).reference_words, 4);
}

TEST(Bleu, EmptyAndUnrelatedHypothesesScoreZero) {
  EXPECT_EQ(bleu({"", "", ""}, references).score, 0);
  for (const Smoothing smoothing : {Smoothing::exponential, Smoothing::none, Smoothing::floor, Smoothing::add_k}) {
    EXPECT_EQ(bleu({"this is a cat"}, {{"okay thanks"}}, {.smoothing = smoothing}).score, 0);
  }
}

TEST(Bleu, AnEmptyReferenceLineCountsAsNoWords) {
  const Bleu result = bleu({"a b c d e", "x"}, {{"a b c d e", ""}});
  EXPECT_EQ(result.hypothesis_words, 6);
  EXPECT_EQ(result.reference_words, 5);
  EXPECT_NEAR(result.score, 95.544, 1e-3);  // only the unigram precision, 5/6, is below 1
}

TEST(Bleu, SplitsChineseByCharacterAndTheRestAs13a) {
  EXPECT_THAT(metric_words("我有3,5元 and 2.5kg, “好”。", MetricTokenizer::zh),
              ElementsAre("我", "有", "3,5", "元", "and", "2.5kg", ",", "“", "好", "”", "。"));
  const Lines hypothesis{"看，小猫在桌子上。", "他买了3本书。"};
  const References reference{{"看小猫，它在桌子上。", "她买了三本书。"}};
  EXPECT_NEAR(bleu(hypothesis, reference, {.tokenize = MetricTokenizer::zh}).score, 40.139900, 1e-6);
  EXPECT_THAT(bleu(hypothesis, reference, {.tokenize = MetricTokenizer::zh}).signature, testing::HasSubstr("|tok:zh|"));
}

TEST(Bleu, CutsPunctuationLikeMteval) {
  const auto words = [](const char* line) { return metric_words(line, MetricTokenizer::mteval_13a); };
  EXPECT_THAT(words("Hello, world!"), ElementsAre("Hello", ",", "world", "!"));
  EXPECT_THAT(words("1,000.50 is 10-20%."), ElementsAre("1,000.50", "is", "10", "-", "20", "%", "."));
  EXPECT_THAT(words("U.S.-based \"co-op\""), ElementsAre("U", ".", "S", ".", "-based", "\"", "co-op", "\""));
  EXPECT_THAT(words("&quot;a&amp;b&quot; &lt;x&gt;<skipped>"), ElementsAre("\"", "a", "&", "b", "\"", "<", "x", ">"));
  EXPECT_THAT(words("a,,b"), ElementsAre("a", ",", ",", "b"));
  EXPECT_THAT(words("x\u00A0y\u3000z"), ElementsAre("x", "y", "z"));
  EXPECT_THAT(words(""), ElementsAre());
}

TEST(Bleu, LowercaseKnowsMoreThanAscii) {
  EXPECT_EQ(bleu({"ΟΔΟΣ ÉTÉ A B C"}, {{"οδος été a b c"}}, {.lowercase = true}).score,
            bleu({"1 2 3 4 5"}, {{"1 2 3 4 5"}}).score);
}

// sacreBLEU: "we have fewer references for this particular sentence".
TEST(Bleu, AnEmptyLineAmongSeveralReferencesIsNone) {
  const Bleu b = bleu({"a b c d e f", "x y z w"}, {{"a b c d e f g h i j k l", "x y z w"}, {"", "x y z w"}});
  EXPECT_NEAR(b.score, 54.88, 0.005);  // exp(1 - 16 / 10)
  EXPECT_EQ(b.reference_words, 16);
  EXPECT_EQ(b.signature.substr(0, 10), "nrefs:var|");
  EXPECT_EQ(bleu({"a", "b"}, {{"a", "b"}, {"a", "c"}}).signature.substr(0, 8), "nrefs:2|");
  EXPECT_EQ(bleu({"a", "b"}, {{"", ""}, {"a", "c"}}).signature.substr(0, 8), "nrefs:1|");
  EXPECT_EQ(bleu({"a", ""}, {{"a", ""}}).signature.substr(0, 8), "nrefs:1|");
}

TEST(Bleu, UnequalCountsAreAnErrorThatNamesThem) {
  try {
    (void)bleu({"a", "b"}, {{"a", "b"}, {"a"}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "bleu: 2 hypotheses but 1 lines in reference 2; each hypothesis needs its reference");
  }
  EXPECT_THROW((void)bleu({}, {{}}), UsageError);
  EXPECT_THROW((void)bleu({"a"}, {}), UsageError);
}

}  // namespace
}  // namespace fovea
