#include "text/batches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using testing::ElementsAre;

// Pairs of 1 to 30 tokens; the ids tell pair and side.
Corpus make_corpus(int pairs, std::uint64_t seed = 1) {
  Corpus corpus;
  Rng rng(seed);
  for (int i = 0; i < pairs; ++i) {
    const std::size_t length = 1 + rng.below(30);
    const std::vector<std::int32_t> source(std::max<std::size_t>(1, length + rng.below(5) - 2 * (length > 2)),
                                           1000 + i);
    const std::vector<std::int32_t> target(length, 2000 + i);
    corpus.add(source, target, i + 1);
  }
  return corpus;
}

std::vector<Batch> epoch_of(Batches& batches, std::int64_t epoch) {
  batches.start_epoch(epoch);
  std::vector<Batch> out(static_cast<std::size_t>(batches.count()));
  for (std::size_t i = 0; i < out.size(); ++i) batches.fill(static_cast<std::int64_t>(i), out[i]);
  return out;
}

std::vector<std::vector<std::int32_t>> pairs_of(const std::vector<Batch>& batches) {
  std::vector<std::vector<std::int32_t>> out;
  for (const Batch& batch : batches) out.push_back(batch.pairs);
  return out;
}

TEST(Batches, EachPairComesOncePerEpoch) {
  const Corpus corpus = make_corpus(2000);
  Batches batches(corpus, {.batch_tokens = 256});
  for (const std::int64_t epoch : {0, 1, 17}) {
    std::vector<std::int32_t> seen;
    for (const Batch& batch : epoch_of(batches, epoch)) seen.insert(seen.end(), batch.pairs.begin(), batch.pairs.end());
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 2000u);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

TEST(Batches, PaddedTokensStayWithinTheLimitAndPaddingIsRare) {
  const Corpus corpus = make_corpus(5000);
  Batches batches(corpus, {.batch_tokens = 1024});
  std::int64_t tokens = 0;
  const auto epoch = epoch_of(batches, 3);
  for (const Batch& batch : epoch) {
    EXPECT_LE(batch.rows * batch.source_width, 1024);
    EXPECT_LE(batch.rows * batch.target_width, 1024);
    tokens += batch.target_tokens;
  }
  EXPECT_GT(static_cast<double>(tokens) / static_cast<double>(epoch.size()), 0.75 * 1024);
  EXPECT_LT(batches.padding(), 0.05);
  Batches few(corpus, {.batch_tokens = 1024, .max_rows = 7});
  for (const Batch& batch : epoch_of(few, 0)) EXPECT_LE(batch.rows, 7);
}

TEST(Batches, RowsHoldTheirPairsBetweenTheirMarksAndPadding) {
  Corpus corpus;
  corpus.add(std::vector<std::int32_t>{10, 11, 12}, std::vector<std::int32_t>{20}, 1);
  corpus.add(std::vector<std::int32_t>{13}, std::vector<std::int32_t>{21, 22}, 2);
  Batches batches(corpus, {.batch_tokens = 64, .shuffle = false});
  Batch batch;
  ASSERT_EQ(batches.count(), 1);
  batches.fill(0, batch);
  EXPECT_THAT(batch.pairs, ElementsAre(0, 1));
  EXPECT_EQ(batch.source_width, 4);
  EXPECT_EQ(batch.target_width, 3);
  EXPECT_THAT(batch.source, ElementsAre(10, 11, 12, eos_id, 13, eos_id, pad_id, pad_id));
  EXPECT_THAT(batch.target_in, ElementsAre(bos_id, 20, pad_id, bos_id, 21, 22));
  EXPECT_THAT(batch.target_out, ElementsAre(20, eos_id, pad_id, 21, 22, eos_id));
  EXPECT_THAT(batch.source_lengths, ElementsAre(4, 2));
  EXPECT_THAT(batch.target_lengths, ElementsAre(2, 3));
  EXPECT_EQ(batch.source_tokens, 6);
  EXPECT_EQ(batch.target_tokens, 5);
}

TEST(Batches, AnEpochFollowsFromSeedAndNumberAlone) {
  const Corpus corpus = make_corpus(800);
  Batches walked(corpus, {.batch_tokens = 200, .seed = 5});
  (void)epoch_of(walked, 0);
  (void)epoch_of(walked, 1);
  const auto second = pairs_of(epoch_of(walked, 2));
  Batches jumped(corpus, {.batch_tokens = 200, .seed = 5});
  EXPECT_EQ(pairs_of(epoch_of(jumped, 2)), second);
  EXPECT_NE(pairs_of(epoch_of(jumped, 3)), second);
  Batches other(corpus, {.batch_tokens = 200, .seed = 6});
  EXPECT_NE(pairs_of(epoch_of(other, 2)), second);
}

TEST(Batches, PairsMeetOtherPairsInOtherEpochs) {
  const Corpus corpus = make_corpus(3000);
  Batches batches(corpus, {.batch_tokens = 512});
  std::set<std::vector<std::int32_t>> seen;
  std::size_t total = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto pairs : pairs_of(epoch_of(batches, epoch))) {
      std::sort(pairs.begin(), pairs.end());
      seen.insert(pairs);
      ++total;
    }
  }
  EXPECT_GT(seen.size(), total * 9 / 10);
}

TEST(Batches, WithoutShufflingTheyAreAlwaysTheSame) {
  const Corpus corpus = make_corpus(500);
  Batches batches(corpus, {.batch_tokens = 300, .shuffle = false});
  const auto first = pairs_of(epoch_of(batches, 0));
  EXPECT_EQ(pairs_of(epoch_of(batches, 1)), first);
}

TEST(Batches, FillingAgainReusesTheMemory) {
  const Corpus corpus = make_corpus(1000);
  Batches batches(corpus, {.batch_tokens = 512});
  Batch batch;
  batches.fill(0, batch);
  const auto memory = [&batch] {
    return std::vector{batch.source.data(),     batch.source_lengths.data(), batch.target_in.data(),
                       batch.target_out.data(), batch.target_lengths.data(), batch.pairs.data()};
  };
  const auto before = memory();
  for (const std::int64_t epoch : {0, 1, 2}) {
    batches.start_epoch(epoch);
    for (std::int64_t i = 0; i < batches.count(); ++i) batches.fill(i, batch);
  }
  EXPECT_EQ(memory(), before);
}

TEST(Batches, WhatCannotFitIsAnErrorThatSaysWhatWould) {
  const Corpus corpus = make_corpus(100);
  try {
    Batches batches(corpus, {.batch_tokens = 10});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("--batch-tokens 10 is less than the"));
  }
  const Corpus empty;
  EXPECT_THROW(Batches(empty, {}), UsageError);
}

}  // namespace
}  // namespace fovea::text
