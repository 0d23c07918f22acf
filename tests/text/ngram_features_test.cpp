// Words as bags of n-grams.
#include "text/ngram_features.hpp"

#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;

struct Bags {
  std::vector<std::int32_t> ids, ends;
};

Bags bags_of(const NgramOptions& options, const std::vector<std::int32_t>& tokens,
             const std::vector<std::string>& pieces) {
  Bags bags;
  NgramFeatures(options).add(tokens, pieces, bags.ids, bags.ends);
  return bags;
}

TEST(NgramFeatures, TheHashIsFastTexts) {
  // FNV-1a's published values for bytes below 128; bytes above are sign-extended as fastText does.
  EXPECT_EQ(ngram_hash(""), 0x811C9DC5U);
  EXPECT_EQ(ngram_hash("a"), 0xE40C292CU);
  EXPECT_EQ(ngram_hash("foobar"), 0xBF9CF968U);
  EXPECT_EQ(ngram_hash("\xC3"), (0x811C9DC5U ^ 0xFFFFFFC3U) * 16777619U);
}

TEST(NgramFeatures, WordsAloneAreTheirIdsAndTheEnd) {
  const Bags bags = bags_of({.vocabulary = 10}, {4, 7}, {"a", "b"});
  EXPECT_THAT(bags.ids, ElementsAre(4, 7, eos_id));
  EXPECT_THAT(bags.ends, ElementsAre(1, 2, 3));
}

TEST(NgramFeatures, CharactersOfAWordWithItsEnds) {
  const auto id = [](std::string_view gram) { return 10 + static_cast<std::int32_t>(ngram_hash(gram) % 1000); };
  const Bags bags = bags_of({.char_min = 2, .char_max = 3, .vocabulary = 10, .buckets = 1000}, {4}, {"你b"});
  EXPECT_THAT(bags.ids, ElementsAre(4, id("<你"), id("<你b"), id("你b"), id("你b>"), id("b>"), eos_id))
      << "by characters, not bytes";
  EXPECT_THAT(bags.ends, ElementsAre(6, 7));
  const Bags single = bags_of({.char_min = 1, .char_max = 1, .vocabulary = 10, .buckets = 1000}, {4}, {"ab"});
  EXPECT_THAT(single.ids, ElementsAre(4, id("a"), id("b"), eos_id)) << "the marks alone say nothing";
}

TEST(NgramFeatures, AWordNgramBelongsToItsLastWordAndOrderMatters) {
  const NgramOptions options{.word_ngrams = 2, .vocabulary = 10, .buckets = 100000};
  const Bags ab = bags_of(options, {4, 5}, {"a", "b"});
  EXPECT_THAT(ab.ends, ElementsAre(2, 4, 6)) << "start-a, a-b, b-end";
  const Bags ba = bags_of(options, {5, 4}, {"b", "a"});
  EXPECT_NE(ab.ids[3], ba.ids[3]);
  const Bags xab = bags_of(options, {6, 4, 5}, {"x", "a", "b"});
  EXPECT_EQ(xab.ids[5], ab.ids[3]) << "at any position";
  const Bags three = bags_of({.word_ngrams = 3, .vocabulary = 10, .buckets = 100000}, {4, 5}, {"a", "b"});
  EXPECT_THAT(three.ends, ElementsAre(2, 5, 8));
}

TEST(NgramFeatures, UnknownWordsAreTheirNgrams) {
  const Bags with = bags_of({.char_min = 3, .char_max = 3, .vocabulary = 10, .buckets = 50}, {unk_id}, {"cat"});
  EXPECT_EQ(with.ends[0], 3);
  for (int i = 0; i < 3; ++i) EXPECT_GE(with.ids[static_cast<std::size_t>(i)], 10);
  EXPECT_THAT(bags_of({.vocabulary = 10}, {unk_id}, {"cat"}).ids, ElementsAre(unk_id, eos_id));
}

TEST(NgramFeatures, OptionsThatCannotBeAreNamed) {
  EXPECT_THROW(NgramFeatures({.word_ngrams = 0}), UsageError);
  EXPECT_THROW(NgramFeatures({.char_min = 4, .char_max = 3, .buckets = 5}), UsageError);
  EXPECT_THROW(NgramFeatures({.word_ngrams = 2, .buckets = 0}), UsageError);
}

}  // namespace
}  // namespace fovea::text
