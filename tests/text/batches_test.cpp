#include "text/batches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "text/corpus.hpp"

namespace fovea::text {
namespace {

// Pairs of 1 to 30 tokens; the ids encode pair and side.
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

using PairIds = std::vector<std::int32_t>;

std::vector<PairIds> epoch_of(Batches& batches, std::int64_t epoch) {
  batches.start_epoch(epoch);
  std::vector<PairIds> out;
  for (std::int64_t i = 0; i < batches.count(); ++i) {
    const auto pairs = batches.pairs(i);
    out.emplace_back(pairs.begin(), pairs.end());
  }
  return out;
}

TEST(Batches, EachPairComesOncePerEpoch) {
  const Corpus corpus = make_corpus(2000);
  Batches batches(corpus, {.batch_tokens = 256});
  for (const std::int64_t epoch : {0, 1, 17}) {
    std::vector<std::int32_t> seen;
    for (const PairIds& pairs : epoch_of(batches, epoch)) seen.insert(seen.end(), pairs.begin(), pairs.end());
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 2000u);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

TEST(Batches, PaddedTokensStayWithinTheLimitAndPaddingIsRare) {
  const Corpus corpus = make_corpus(5000);
  Batches batches(corpus, {.batch_tokens = 1024});
  std::int64_t tokens = 0;
  std::size_t used = 0, cells = 0;
  const auto epoch = epoch_of(batches, 3);
  for (const PairIds& pairs : epoch) {
    std::size_t source = 0, target = 0;
    for (const std::int32_t pair : pairs) {
      source = std::max(source, corpus.source(pair).size() + 1);
      target = std::max(target, corpus.target(pair).size() + 1);
      used += corpus.source(pair).size() + corpus.target(pair).size() + 2;
      tokens += static_cast<std::int64_t>(corpus.target(pair).size()) + 1;
    }
    EXPECT_LE(pairs.size() * std::max(source, target), 1024U);
    cells += pairs.size() * (source + target);
  }
  EXPECT_GT(static_cast<double>(tokens) / static_cast<double>(epoch.size()), 0.75 * 1024);
  EXPECT_LT(static_cast<double>(cells - used), 0.05 * static_cast<double>(cells));
  Batches few(corpus, {.batch_tokens = 1024, .max_rows = 7});
  for (const PairIds& pairs : epoch_of(few, 0)) EXPECT_LE(pairs.size(), 7U);
}

TEST(Batches, AnEpochFollowsFromSeedAndNumberAlone) {
  const Corpus corpus = make_corpus(800);
  Batches walked(corpus, {.batch_tokens = 200, .seed = 5});
  (void)epoch_of(walked, 0);
  (void)epoch_of(walked, 1);
  const auto second = epoch_of(walked, 2);
  Batches jumped(corpus, {.batch_tokens = 200, .seed = 5});
  EXPECT_EQ(epoch_of(jumped, 2), second);
  EXPECT_NE(epoch_of(jumped, 3), second);
  Batches other(corpus, {.batch_tokens = 200, .seed = 6});
  EXPECT_NE(epoch_of(other, 2), second);
}

TEST(Batches, PairsMeetOtherPairsInOtherEpochs) {
  const Corpus corpus = make_corpus(3000);
  Batches batches(corpus, {.batch_tokens = 512});
  std::set<PairIds> seen;
  std::size_t total = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (PairIds& pairs : epoch_of(batches, epoch)) {
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
  const auto first = epoch_of(batches, 0);
  EXPECT_EQ(epoch_of(batches, 1), first);
}

TEST(Batches, WhatCannotFitIsAnErrorThatSaysWhatWould) {
  const Corpus corpus = make_corpus(100);
  try {
    Batches batches(corpus, {.batch_tokens = 10});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("batch_tokens: 10 given, line 1 has 28 tokens"));
  }
  const Corpus empty;
  EXPECT_THROW(Batches(empty, {}), UsageError);
}

}  // namespace
}  // namespace fovea::text
