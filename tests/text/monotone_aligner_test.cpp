#include "text/joint_ngram/monotone_aligner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea::text {
namespace {

using Pair = MonotoneAligner::Pair;
using Takes = std::vector<std::size_t>;

TEST(MonotoneAligner, FindsWhatEachTokenStandsFor) {
  // 1 stands for 1, 2 for 2 and 2, 3 for nothing, 4 for 4.
  const std::vector<Pair> pairs{{{1, 4}, {1, 4}},    {{1, 3}, {1}}, {{4, 3, 1}, {4, 1}},
                                {{2, 1}, {2, 2, 1}}, {{2}, {2, 2}}, {{4, 2}, {4, 2, 2}}};
  const MonotoneAligner aligner(pairs);
  EXPECT_EQ(aligner.align({{1, 2, 3, 4}, {1, 2, 2, 4}}), (Takes{1, 2, 0, 1}));
  EXPECT_EQ(aligner.align({{3, 3, 2}, {2, 2}}), (Takes{0, 0, 2}));
  EXPECT_TRUE(aligner.align({{1}, {4}}).empty()) << "1 never stood for 4";
  EXPECT_TRUE(aligner.align({{1}, {1, 1, 1}}).empty());
  EXPECT_TRUE(aligner.align({{}, {1}}).empty());
  EXPECT_TRUE(aligner.align({{1}, {}}).empty());
  EXPECT_TRUE(aligner.align({{9}, {1}}).empty());
  EXPECT_TRUE(MonotoneAligner({}).align({{1}, {1}}).empty());
}

TEST(MonotoneAligner, LongLinesAreAlignedUpToALimit) {
  const std::vector<Pair> pairs{{{1, 2}, {1, 2}}, {{2}, {2}}, {{1}, {1}}, {{1, 3}, {1}}};
  const MonotoneAligner aligner(pairs);
  Pair pair{Ids(MonotoneAligner::kLongest, 1), Ids(MonotoneAligner::kLongest, 1)};
  EXPECT_EQ(aligner.align(pair), Takes(MonotoneAligner::kLongest, 1));
  pair.source.push_back(3);
  EXPECT_TRUE(aligner.align(pair).empty());
}

TEST(MonotoneAligner, LinesTooLongToBeLearnedFromHurtNobody) {
  // A token that stands for any of 50: the probabilities of these lines pass through every size that a double can have,
  // down to 0.
  Rng rng(3);
  std::vector<Pair> pairs;
  for (std::size_t length = 100; length <= 300; ++length) {
    pairs.push_back({Ids(length, 1), {}});
    for (std::size_t i = 0; i < length; ++i) pairs.back().target.push_back(static_cast<std::int32_t>(rng.below(50)));
  }
  const MonotoneAligner aligner(pairs, 3);
  EXPECT_EQ(aligner.align({{1, 1}, {1, 3}}), (Takes{1, 1}));
  EXPECT_EQ(aligner.align({Ids(250, 1), Ids(250, 1)}), Takes(250, 1));
  // The way that is left at the end is far less likely than others were on the way.
  const MonotoneAligner mostly_silent(std::vector<Pair>{{Ids(99, 1), {1}}, {{1}, {1}}});
  EXPECT_EQ(mostly_silent.align({Ids(250, 1), Ids(125, 1)}).size(), 250U);
}

// At first each of its ways to be read is unlikely; the tokens around it say which one it is.
TEST(MonotoneAligner, WhatOneLineAloneHasIsUnderstoodFromTheRestOfIt) {
  Rng rng(5);
  std::vector<Pair> pairs;
  for (int word = 0; word < 60; ++word) {
    Ids ids;
    for (int i = 0; i < 8; ++i) ids.push_back(static_cast<std::int32_t>(rng.below(8)));
    pairs.push_back({ids, ids});
  }
  const Pair rare{{0, 1, 2, 3, 99, 4, 5, 6, 7}, {0, 1, 2, 3, 99, 4, 5, 6, 7}};
  pairs.push_back(rare);
  EXPECT_EQ(MonotoneAligner(pairs).align(rare), Takes(9, 1));
  // A line alone, with nothing around it at all.
  const Pair alone{{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(MonotoneAligner(std::vector<Pair>{alone}).align(alone), Takes(8, 1));
  const Pair silent{{1, 2}, {1}};
  EXPECT_EQ(MonotoneAligner(std::vector<Pair>{silent}).align(silent).size(), 2U);
}

TEST(MonotoneAligner, TooManyDifferentTokensAreRefusedBeforeTheyFillTheMemory) {
  std::vector<Pair> pairs;
  for (std::int32_t i = 0; i < 100; ++i) pairs.push_back({{2 * i, 2 * i + 1}, {2 * i, 2 * i + 1}});
  EXPECT_NO_THROW(MonotoneAligner(pairs, 2, 1000));
  EXPECT_THROW(MonotoneAligner(pairs, 2, 500), UsageError);  // six for each pair: none, one or both of the targets
}

// Every alignment written out: the same rounds of expectation and maximisation, and the likeliest of all.
void every_alignment(const Pair& pair, Takes& begun, std::size_t taken, std::vector<Takes>& all) {
  if (begun.size() == pair.source.size()) {
    if (taken == pair.target.size()) all.push_back(begun);
    return;
  }
  for (std::size_t n = 0; n <= MonotoneAligner::kMost && taken + n <= pair.target.size(); ++n) {
    begun.push_back(n);
    every_alignment(pair, begun, taken + n, all);
    begun.pop_back();
  }
}

using Table = std::map<std::pair<std::int32_t, Ids>, double>;

double likelihood(const Pair& pair, const Takes& takes, const Table& table) {
  double p = 1;
  std::size_t at = 0;
  for (std::size_t i = 0; i < takes.size(); at += takes[i++]) {
    const auto first = pair.target.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = table.find({pair.source[i], Ids(first, first + static_cast<std::ptrdiff_t>(takes[i]))});
    if (found == table.end()) return 0;
    p *= found->second;
  }
  return p;
}

TEST(MonotoneAligner, DoesWhatWritingOutEveryAlignmentDoes) {
  Rng rng(11);
  std::vector<Pair> pairs(60);
  for (Pair& pair : pairs) {
    for (std::uint64_t n = 1 + rng.below(5); n > 0; --n) pair.source.push_back(static_cast<std::int32_t>(rng.below(4)));
    for (const std::int32_t token : pair.source) {
      if (token != 3 || rng.below(3) == 0) pair.target.push_back(token);
      if (token == 2) pair.target.push_back(static_cast<std::int32_t>(rng.below(2)));
    }
    if (pair.target.empty()) pair.target.push_back(3);  // lines without tokens are not aligned
  }
  constexpr int kRounds = 4;
  Table table;
  for (int round = 0; round < kRounds; ++round) {
    Table counts;
    std::map<std::int32_t, double> totals;
    for (const Pair& pair : pairs) {
      std::vector<Takes> all;
      Takes begun;
      every_alignment(pair, begun, 0, all);
      std::vector<double> share;
      double sum = 0;
      for (const Takes& takes : all) {
        double p = 1;
        if (round == 0) {
          for (const std::size_t n : takes) p *= n == 0 ? 0.3 : n == 1 ? 0.6 : 0.1;
        } else {
          p = likelihood(pair, takes, table);
        }
        share.push_back(p);
        sum += p;
      }
      for (std::size_t a = 0; sum > 0 && a < all.size(); ++a) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < all[a].size(); at += all[a][i++]) {
          const auto first = pair.target.begin() + static_cast<std::ptrdiff_t>(at);
          counts[{pair.source[i], Ids(first, first + static_cast<std::ptrdiff_t>(all[a][i]))}] += share[a] / sum;
          totals[pair.source[i]] += share[a] / sum;
        }
      }
    }
    table.clear();
    for (const auto& [what, count] : counts) table[what] = count / totals[what.first];
  }
  const MonotoneAligner aligner(pairs, kRounds);
  int aligned = 0;
  for (const Pair& pair : pairs) {
    std::vector<Takes> all;
    Takes begun;
    every_alignment(pair, begun, 0, all);
    double best = 0;
    for (const Takes& takes : all) best = std::max(best, likelihood(pair, takes, table));
    const Takes found = aligner.align(pair);
    EXPECT_EQ(found.empty(), best == 0);
    if (found.empty()) continue;
    ++aligned;
    EXPECT_NEAR(likelihood(pair, found, table), best, 1e-9 * best);
  }
  EXPECT_GT(aligned, 40);
}

}  // namespace
}  // namespace fovea::text
