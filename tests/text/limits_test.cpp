// Which pairs and which words are kept.
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "text/corpus.hpp"

namespace fovea::text {
namespace {

std::shared_ptr<const Tokenizer> words(const std::vector<std::string>& lines, std::int64_t min_count = 1,
                                       std::int32_t vocab = 8000) {
  return train_tokenizer(lines, {.kind = TokenizerKind::word, .vocab = vocab, .min_count = min_count}).tokenizer;
}

TEST(MaxLength, IsTheMostTokensOfEachSideWithoutTheEnd) {
  const ParallelText text{"s", "t", {"a", "a a", "a a a", "a", "a a"}, {"x", "x x", "x", "x x x", "x"}};
  const auto source = words(text.source);
  const auto target = words(text.target);
  CorpusReport report;
  const Corpus two(text, SourceReader(source), *target, 2, &report);
  ASSERT_EQ(two.size(), 3);
  EXPECT_EQ(two.line(1), 2);
  EXPECT_EQ(two.line(2), 5);
  EXPECT_EQ(report.too_long.count, 2);
  EXPECT_EQ(report.source_tokens, 5);
  EXPECT_EQ(report.target_tokens, 4);
  EXPECT_EQ(Corpus(text, SourceReader(source), *target, 1).size(), 1);
  EXPECT_EQ(Corpus(text, SourceReader(source), *target, 3).size(), 5);
}

TEST(MinCount, IsTheFewestOccurrencesOfAWordThatIsKnown) {
  const std::vector<std::string> lines{"a a a b b c"};
  for (const auto& [least, known] : {std::pair{1, "abc"}, {2, "ab"}, {3, "a"}}) {
    const auto tokenizer = words(lines, least);
    EXPECT_EQ(tokenizer->size(), special_ids + static_cast<std::int32_t>(std::string(known).size()));
    for (const char c : {'a', 'b', 'c'}) {
      const bool is_known = std::string(known).find(c) != std::string::npos;
      EXPECT_EQ(tokenizer->encode(std::string(1, c))[0] != unk_id, is_known) << c << least;
    }
  }
}

TEST(Vocab, CountsTheSpecialTokensAndKeepsTheMostFrequent) {
  const std::vector<std::string> lines{"a a a b b c"};
  const auto tokenizer = words(lines, 1, special_ids + 2);
  EXPECT_EQ(tokenizer->size(), special_ids + 2);
  EXPECT_EQ(tokenizer->encode("a")[0], special_ids);
  EXPECT_EQ(tokenizer->encode("b")[0], special_ids + 1);
  EXPECT_EQ(tokenizer->encode("c")[0], unk_id);
}

}  // namespace
}  // namespace fovea::text
