#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"

namespace fovea {
namespace {

TEST(ExactMatch, CountsLinesEqualToAReferenceWhiteSpaceAtTheEndsAside) {
  EXPECT_EQ(exact_match({"2021-03-03 ", "x", "", "Y"}, {{"2021-03-03", "y", "", "y"}}), 50);
  EXPECT_EQ(exact_match({"2021-03-03 ", "x", "", "Y"}, {{"2021-03-03", "y", "", "y"}}, true), 75);
  EXPECT_EQ(exact_match({"b"}, {{"a"}, {"b"}}), 100);
}

TEST(WordErrors, CountsTheFewestEdits) {
  const WordErrors result = word_errors({"the cat sat", "k a t s"}, {{"the cat sat down", "k æ t"}});
  EXPECT_EQ(result.edits, 3);
  EXPECT_EQ(result.reference_words, 7);
  EXPECT_NEAR(result.score, 100.0 * 3 / 7, 1e-9);
  EXPECT_EQ(word_errors({"a b c"}, {{"x"}}).score, 300);
  EXPECT_EQ(word_errors({"", "A"}, {{"a b", "a"}}, MetricTokenizer::none, true).edits, 2);
}

TEST(WordErrors, WithCharactersIsTheCharacterErrorRate) {
  EXPECT_EQ(word_errors({"小狗"}, {{"小猫"}}, MetricTokenizer::character).score, 50);
}

TEST(WordErrors, OfSeveralReferencesTheNearestCounts) {
  const WordErrors result =
      word_errors({"T AH M EY T OW", "K AE T"}, {{"T AH M AA T OW Z", "K AE T"}, {"T AH M EY T OW", "K AH T S"}});
  EXPECT_EQ(result.edits, 0);
  EXPECT_EQ(result.reference_words, 9);                                // six of the second, three of the first
  EXPECT_EQ(word_errors({"a"}, {{"a b"}, {"x"}}).reference_words, 2);  // one edit either way: the first
}

TEST(WordErrors, NothingWantedAndNothingGivenIsNoError) {
  EXPECT_EQ(word_errors({""}, {{""}}).score, 0);
  EXPECT_EQ(word_errors({"a"}, {{""}}).score, 100);
  EXPECT_THROW((void)word_errors({"a"}, {{"a", "b"}}), UsageError);
}

}  // namespace
}  // namespace fovea
