#include "text/copy_table.hpp"

#include <gtest/gtest.h>

#include "text/corpus.hpp"

namespace fovea::text {
namespace {

using Ids = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

std::shared_ptr<const Tokenizer> words_of_line(const std::string& line) {
  return train_tokenizer({line}, {.kind = TokenizerKind::word}).tokenizer;
}

TEST(CopyTable, WordsHaveTheTargetsIdsOrNumbersOfTheirOwn) {
  const auto source = words_of_line("meet at noon"), target = words_of_line("meeting at Anna");
  const CopyTable table(*source, *target);
  Ids ids, copies;
  Words pieces, extra;
  source->encode("meet Anna at Bob Bob meet", ids, &pieces);
  table.source(ids, pieces, copies, extra);
  const std::int32_t size = target->size();
  // meet is in no target vocabulary, Anna only there, Bob in neither.
  EXPECT_EQ(copies, (Ids{size, target->encode("Anna")[0], target->encode("at")[0], size + 1, size + 1, size}));
  EXPECT_EQ(extra, (Words{"meet", "Bob"}));
  target->encode("at Bob Carl meet", ids, &pieces);
  table.target(ids, pieces, extra);
  EXPECT_EQ(ids, (Ids{target->encode("at")[0], size + 1, unk_id, size}));
  table.source(source->encode("meet Bob at"), copies);
  EXPECT_EQ(copies, (Ids{unk_id, unk_id, target->encode("at")[0]}));
}

TEST(CopyTable, ACorpusCarriesBothSides) {
  const auto source = words_of_line("call now"), target = words_of_line("call");
  const ParallelText text{"s", "t", {"call Zoe now", "now"}, {"call Zoe", "call now"}};
  const CopyTable table(*source, *target);
  CorpusReport report;
  const Corpus corpus(text, SourceReader(source), *target, 10, &report, &table);
  ASSERT_EQ(corpus.size(), 2);
  const std::int32_t size = target->size(), call = target->encode("call")[0];
  EXPECT_EQ(Ids(corpus.copies(0).begin(), corpus.copies(0).end()), (Ids{call, size, size + 1}));
  EXPECT_EQ(Ids(corpus.target(0).begin(), corpus.target(0).end()), (Ids{call, size}));
  EXPECT_EQ(Ids(corpus.target(1).begin(), corpus.target(1).end()), (Ids{call, size})) << "now is word 0 of its source";
  EXPECT_EQ(report.target_unknown, 0);
  EXPECT_TRUE(Corpus(text, SourceReader(source), *target, 10).copies(0).empty());
}

}  // namespace
}  // namespace fovea::text
