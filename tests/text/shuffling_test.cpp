// What an epoch's order owes to chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.hpp"
#include "text/batches.hpp"
#include "text/corpus.hpp"

namespace fovea::text {
namespace {

using Pairs = std::vector<std::int32_t>;

// Pairs of the lengths given, a source as long as its target.
Corpus corpus_of(const std::vector<std::size_t>& lengths) {
  Corpus corpus;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::vector<std::int32_t> ids(lengths[i], 7);
    corpus.add(ids, ids, static_cast<std::int64_t>(i) + 1);
  }
  return corpus;
}

Corpus mixed_corpus(std::size_t count) {
  Rng rng(3);
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < count; ++i) lengths.push_back(1 + rng.below(30));
  return corpus_of(lengths);
}

std::vector<Pairs> shuffled_epoch(Batches& batches, std::int64_t epoch) {
  batches.start_epoch(epoch);
  std::vector<Pairs> out;
  for (std::int64_t i = 0; i < batches.count(); ++i) {
    const auto pairs = batches.pairs(i);
    out.emplace_back(pairs.begin(), pairs.end());
  }
  return out;
}

// Of all neighbouring batches, the share in which the second holds the longer pairs.
double rising_share(const Corpus& corpus, const std::vector<Pairs>& epoch) {
  const auto longest = [&corpus](const Pairs& pairs) {
    std::size_t most = 0;
    for (const std::int32_t p : pairs) most = std::max(most, corpus.target(p).size());
    return most;
  };
  int rising = 0;
  int different = 0;
  for (std::size_t i = 1; i < epoch.size(); ++i) {
    const std::size_t a = longest(epoch[i - 1]);
    const std::size_t b = longest(epoch[i]);
    different += a != b ? 1 : 0;
    rising += a < b ? 1 : 0;
  }
  return static_cast<double>(rising) / different;
}

TEST(Shuffling, ShortAndLongBatchesComeInAnyOrder) {
  const Corpus corpus = mixed_corpus(3000);
  Batches shuffled(corpus, {.batch_tokens = 200});
  for (const std::int64_t epoch : {0, 1, 2})
    EXPECT_NEAR(rising_share(corpus, shuffled_epoch(shuffled, epoch)), 0.5, 0.1);
  Batches sorted(corpus, {.batch_tokens = 200, .shuffle = false});
  EXPECT_EQ(rising_share(corpus, shuffled_epoch(sorted, 0)), 1);
}

TEST(Shuffling, EqualPairsAreMixed) {
  const Corpus corpus = corpus_of(std::vector<std::size_t>(400, 9));
  Batches batches(corpus, {.batch_tokens = 200});
  for (const Pairs& pairs : shuffled_epoch(batches, 0)) {
    if (pairs.size() < 10) continue;
    EXPECT_FALSE(std::is_sorted(pairs.begin(), pairs.end()));
    const auto [least, most] = std::minmax_element(pairs.begin(), pairs.end());
    EXPECT_GT(*most - *least, 100);  // from all over the corpus
  }
}

TEST(Shuffling, BatchesAreCutAtOtherPlacesInOtherEpochs) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 1000; ++i) lengths.push_back(i % 100 + 1);  // few pairs of each length
  const Corpus corpus = corpus_of(lengths);
  Batches batches(corpus, {.batch_tokens = 3000});
  std::set<std::multiset<std::size_t>> sizes;
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    std::multiset<std::size_t> of_epoch;
    for (const Pairs& pairs : shuffled_epoch(batches, epoch)) of_epoch.insert(pairs.size());
    sizes.insert(of_epoch);
  }
  EXPECT_GE(sizes.size(), 4U);
}

TEST(Shuffling, TheSameSeedAndEpochGiveTheSameAndOthersOthers) {
  const Corpus corpus = mixed_corpus(500);
  Batches a(corpus, {.batch_tokens = 200, .seed = 5});
  Batches b(corpus, {.batch_tokens = 200, .seed = 5});
  Batches c(corpus, {.batch_tokens = 200, .seed = 6});
  EXPECT_EQ(shuffled_epoch(a, 3), shuffled_epoch(b, 3));
  EXPECT_NE(shuffled_epoch(a, 3), shuffled_epoch(a, 4));
  EXPECT_NE(shuffled_epoch(a, 3), shuffled_epoch(c, 3));
}

TEST(Shuffling, ABatchIsAsFullAsItsLimitAllows) {
  const Corpus corpus = corpus_of(std::vector<std::size_t>(400, 9));  // ten tokens each, the end included
  Batches batches(corpus, {.batch_tokens = 205, .shuffle = false});
  const auto epoch = shuffled_epoch(batches, 0);
  ASSERT_EQ(epoch.size(), 20U);
  for (const Pairs& pairs : epoch) EXPECT_EQ(pairs.size(), 20U);
  Batches few(corpus, {.batch_tokens = 205, .max_rows = 8, .shuffle = false});
  EXPECT_EQ(shuffled_epoch(few, 0).size(), 50U);
}

TEST(Shuffling, APairThatJustFitsIsABatchOfItsOwn) {
  const Corpus corpus = corpus_of({9, 9});
  Batches batches(corpus, {.batch_tokens = 10});
  EXPECT_EQ(shuffled_epoch(batches, 0).size(), 2U);
}

}  // namespace
}  // namespace fovea::text
