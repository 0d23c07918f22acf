#include "text/corpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/files.hpp"

namespace fovea::text {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

std::shared_ptr<const Tokenizer> words_of(const std::vector<std::string>& lines) {
  return train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer;
}

TEST(ParallelText, UnequalFilesAreAnErrorWithBothNamesAndCounts) {
  const TemporaryFolder folder;
  const auto a = folder.write("a", "1\n2\n3\n");
  const auto b = folder.write_gz("b.gz", "1\n2\n");
  EXPECT_THAT(error_of([&] { (void)read_parallel(a, b); }), HasSubstr(a + " has 3 lines but " + b + " has 2"));
  const auto none = folder.write("none", "");
  EXPECT_THAT(error_of([&] { (void)read_parallel(none, none); }), HasSubstr("no lines"));
}

TEST(Corpus, KeepsPairsTogetherAndSaysWhatItLeftOutAndWhere) {
  const TemporaryFolder folder;
  const auto source = folder.write("s", "a b\n\nc\nd d d d\ne\n\nf\n");
  const auto target = folder.write("t", "A B\nX\n \nD\nE E E E\n\nF\n");
  const ParallelText text = read_parallel(source, target);
  const auto st = words_of(text.source);
  const auto tt = words_of(text.target);
  CorpusReport report;
  const Corpus corpus(text, SourceReader(st), *tt, 3, &report);
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(st->decode(corpus.source(0)), "a b");
  EXPECT_EQ(tt->decode(corpus.target(0)), "A B");
  EXPECT_EQ(st->decode(corpus.source(1)), "f");
  EXPECT_EQ(tt->decode(corpus.target(1)), "F");
  EXPECT_EQ(corpus.line(0), 1);
  EXPECT_EQ(corpus.line(1), 7);
  EXPECT_EQ(report.lines, 7);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.source_tokens, 3);
  EXPECT_THAT(
      report.warnings(),
      ElementsAre("left out 3 of 7 line pairs with an empty side, the first at " + source + ":2",
                  "left out 2 of 7 line pairs of more than 3 tokens (max-length), the first at " + source + ":4"));
}

TEST(Corpus, NamesTheSideThatIsAtFault) {
  const TemporaryFolder folder;
  const ParallelText text = read_parallel(folder.write("s", "a\na\na\n"), folder.write("t", "A\nA A A\n\n"));
  CorpusReport report;
  const Corpus corpus(text, SourceReader(words_of(text.source)), *words_of(text.target), 2, &report);
  EXPECT_EQ(report.too_long.first, folder.path("t") + ":2");
  EXPECT_EQ(report.empty.first, folder.path("t") + ":3");
}

TEST(Corpus, CountsUnknownTokens) {
  const TemporaryFolder folder;
  const ParallelText text = read_parallel(folder.write("s", "a b\nc a\n"), folder.write("t", "x\ny\n"));
  CorpusReport report;
  const Corpus corpus(text, SourceReader(words_of({"a"})), *words_of({"x"}), 10, &report);
  EXPECT_EQ(report.source_unknown, 2);
  EXPECT_EQ(report.target_unknown, 1);
  EXPECT_TRUE(report.warnings().empty());
}

TEST(Corpus, NothingLeftIsAnErrorThatSaysWhy) {
  const TemporaryFolder folder;
  const ParallelText text = read_parallel(folder.write("s", "a a\n\n"), folder.write("t", "x\ny\n"));
  EXPECT_THAT(error_of([&] { (void)Corpus(text, SourceReader(words_of({"a"})), *words_of({"x"}), 1); }),
              HasSubstr("none of the 2 line pairs is left, 1 have an empty side and 1 more than 1 tokens"));
}

TEST(Corpus, LargeCorporaKeepTheirOrder) {
  ParallelText text{"s", "t", {}, {}};
  for (int i = 0; i < 40000; ++i) {
    text.source.push_back(std::to_string(i));
    text.target.push_back("x " + std::to_string(i));
  }
  const auto st = words_of(text.source);
  const auto tt = words_of(text.target);
  const auto all = train_tokenizer(text.source, {.kind = TokenizerKind::word, .vocab = 50000}).tokenizer;
  const Corpus corpus(text, SourceReader(all), *tt, 5);
  ASSERT_EQ(corpus.size(), 40000);
  for (int i = 0; i < 40000; i += 997) EXPECT_EQ(all->decode(corpus.source(i)), std::to_string(i));
}

TEST(Corpus, SamplesThePairsItKeptAndLeavesThoseThatWouldBeTooLong) {
  const TemporaryFolder folder;
  const auto source = folder.write("s", "banana bandana\n\nanabana banana\nbanana\n");
  const auto target = folder.write("t", "ananas\nx\nbananas banana\nananas\n");
  const ParallelText text = read_parallel(source, target);
  const auto tokenizer =
      train_shared_tokenizer(text.source, text.target, {.vocab = 40, .subwords = TokenizerOptions::Subwords::bpe})
          .tokenizer;
  const Corpus plain(text, SourceReader(tokenizer), *tokenizer, 100);
  ASSERT_EQ(plain.size(), 3);
  const Corpus sampled = plain.sampled(text, *tokenizer, *tokenizer, 100, 0.9, 1);
  ASSERT_EQ(sampled.size(), 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto line = static_cast<std::size_t>(sampled.line(i) - 1);
    EXPECT_EQ(tokenizer->decode(sampled.source(i)), text.source[line]);
    EXPECT_EQ(tokenizer->decode(sampled.target(i)), text.target[line]);
    EXPECT_GT(sampled.source(i).size(), plain.source(i).size());
  }
  const Corpus tight = plain.sampled(text, *tokenizer, *tokenizer, 9, 0.9, 1);
  ASSERT_EQ(tight.size(), 3);
  EXPECT_THAT(tight.source(0), testing::ElementsAreArray(plain.source(0)));
  EXPECT_THAT(tight.source(2), testing::ElementsAreArray(sampled.source(2)));
}

// Or equal lines on both sides would always be cut alike.
TEST(Corpus, SamplesTheTwoSidesIndependently) {
  const std::vector<std::string> lines{"banana bandana", "anabana banana", "bandana ananas banana"};
  const ParallelText text{"s", "t", lines, lines};
  const auto tokenizer =
      train_shared_tokenizer(lines, lines, {.vocab = 40, .subwords = TokenizerOptions::Subwords::bpe}).tokenizer;
  const Corpus sampled =
      Corpus(text, SourceReader(tokenizer), *tokenizer, 100).sampled(text, *tokenizer, *tokenizer, 100, 0.5, 1);
  int different = 0;
  for (std::int64_t i = 0; i < sampled.size(); ++i) {
    different += std::ranges::equal(sampled.source(i), sampled.target(i)) ? 0 : 1;
  }
  EXPECT_GT(different, 0);
}

}  // namespace
}  // namespace fovea::text
