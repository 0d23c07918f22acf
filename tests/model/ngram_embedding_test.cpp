#include "model/ngram_embedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kRows = 1000;

// What each token gets from a table whose row r holds r + 1, for runs of n tokens alone (those up to n less those up to
// n - 1).
std::vector<float> rows_of(const std::vector<std::int32_t>& ids, const std::vector<std::int64_t>& lengths, int n) {
  const auto batch = static_cast<std::int64_t>(lengths.size());
  const std::int64_t length = static_cast<std::int64_t>(ids.size()) / batch;
  Tensor table = Tensor::empty({kRows, 1});
  for (std::int64_t r = 0; r < kRows; ++r) table.data()[r] = static_cast<float>(r + 1);
  const auto sums = [&](int longest) {
    Parameters p;
    if (longest > 1) p.put("runs", table);
    const NgramEmbedding runs(p, "runs", longest, kRows, 1);
    return runs.add_to(Tensor::zeros({batch, length, 1}), {ids, lengths, batch, length}, 1.0F).value().contiguous();
  };
  const Tensor with = sums(n);
  const Tensor without = sums(n - 1);
  std::vector<float> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) out[i] = with.data()[i] - without.data()[i];
  return out;
}

TEST(NgramEmbedding, ATokenIsGivenTheRowOfTheRunInWhoseMiddleItStands) {
  // The run of three around each 5, whatever stands farther off, is the same; around the 7 it is another.
  const auto rows = rows_of({4, 5, 6, 4, 5, 6, 7, 8}, {8}, 3);
  EXPECT_EQ(rows[1], rows[4]);
  EXPECT_NE(rows[1], rows[6]);
  // Its order counts, and so does its length.
  const auto turned = rows_of({6, 5, 4}, {3}, 3);
  EXPECT_NE(turned[1], rows[1]);
  EXPECT_NE(rows_of({4, 5, 6, 4, 5, 6, 7, 8}, {8}, 2)[1], rows[1]);
  // Of two tokens, the second stands behind.
  const auto pairs = rows_of({5, 6, 9, 5, 6}, {5}, 2);
  EXPECT_EQ(pairs[0], pairs[3]);
  EXPECT_NE(pairs[1], pairs[4]);
}

TEST(NgramEmbedding, ARowOfABatchIsGivenTheSameWhateverStandsBesideIt) {
  for (const int n : {2, 3, 4, 5, 8}) {
    const auto alone = rows_of({4, 5, 6}, {3}, n);
    // Padded, and with what is no padding behind its end.
    const auto padded = rows_of({9, 9, 9, 9, 9, 4, 5, 6, 0, 7}, {5, 3}, n);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), padded.begin() + 5)) << n;
  }
}

TEST(NgramEmbedding, RunsAreSpreadOverTheTable) {
  std::set<float> seen;
  for (std::int32_t a = 4; a < 24; ++a) {
    for (std::int32_t b = 4; b < 24; ++b) seen.insert(rows_of({a, b}, {2}, 2)[0]);
  }
  // 400 runs thrown at 1,000 rows hit 330 on average, with a deviation of about 7.
  EXPECT_GT(seen.size(), 300U);
  EXPECT_LT(seen.size(), 360U);
}

TEST(NgramEmbedding, AddsNothingBeforeItHasLearned) {
  Parameters p;
  const NgramEmbedding runs(p, "runs", 3, kRows, 2);
  const Tensor x = Tensor::of({1, 3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::int32_t> ids{4, 5, 6};
  const std::vector<std::int64_t> lengths{3};
  const Tensor y = runs.add_to(x, {ids, lengths, 1, 3}, 4.0F).value().contiguous();
  EXPECT_TRUE(std::equal(x.data(), x.data() + 6, y.data()));
  EXPECT_EQ(p.count(), kRows * 2);
}

}  // namespace
}  // namespace fovea
