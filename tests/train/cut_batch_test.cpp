#include "train/cut_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"

namespace fovea {
namespace {

TEST(CutBatch, ABatchIsCutIntoAsManyGroupsAsThreadsShareEvenly) {
  const test::BackwardsTask task(200, 12, 20, 3);
  std::int64_t tokens = 0;
  for (const auto i : task.all()) tokens += static_cast<std::int64_t>(task.target(i).size()) + 1;
  for (const int threads : {1, 2, 3}) {
    std::vector<std::int64_t> batch = task.all();
    std::vector<std::size_t> ends;
    cut_batch(PairExamples(task), batch, 256, threads, ends);
    ASSERT_EQ(ends.size() % static_cast<std::size_t>(threads), 0U);
    ASSERT_GE(static_cast<std::int64_t>(ends.size()) * 256, tokens);
    EXPECT_EQ(ends.back(), batch.size());
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, task.all());  // each pair once
  }
}

TEST(CutBatch, EveryPairIsInOneGroup) {
  const test::BackwardsTask task(97, 6, 20, 5);
  for (const int groups_of : {1, 2, 3}) {
    auto batch = task.all();
    std::vector<std::size_t> ends;
    cut_batch(PairExamples(task), batch, 64, groups_of, ends);
    EXPECT_EQ(ends.size() % static_cast<std::size_t>(groups_of), 0U);
    EXPECT_EQ(ends.back(), 97U);
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, task.all());
  }
}

}  // namespace
}  // namespace fovea
