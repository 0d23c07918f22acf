#include "tasks/generation/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "fovea/threads.hpp"

namespace fovea {
namespace {

using Batches = std::vector<std::pair<std::size_t, std::size_t>>;

Batches batches(const std::vector<std::int64_t>& lengths, const BatchLimits& limits) {
  Batches found;
  std::mutex mutex;
  decode_in_batches(lengths, limits, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    found.emplace_back(begin, end);
  });
  std::sort(found.begin(), found.end());
  return found;
}

class BatchesOfInputs : public ::testing::Test {
 protected:
  void SetUp() override { set_threads(1); }
  void TearDown() override { set_threads(before_); }

 private:
  int before_ = threads();
};

TEST_F(BatchesOfInputs, HoldAsManyTokensAsAreAllowedWithPadding) {
  EXPECT_EQ(batches({10, 6, 5, 5, 1}, {.tokens = 20}), (Batches{{0, 2}, {2, 5}}));
  EXPECT_EQ(batches({50, 1}, {.tokens = 20}), (Batches{{0, 1}, {1, 2}}));
  EXPECT_EQ(batches({}, {.tokens = 20}), Batches{});
}

TEST_F(BatchesOfInputs, HoldNoMoreHypothesesThanStayInTheCaches) {
  const std::vector<std::int64_t> words(200, 1);
  EXPECT_EQ(batches(words, {.tokens = 2048}), (Batches{{0, 96}, {96, 192}, {192, 200}}));
  EXPECT_EQ(batches(std::vector<std::int64_t>(30, 1), {.tokens = 2048, .beam = 5}), (Batches{{0, 19}, {19, 30}}));
  EXPECT_EQ(batches(std::vector<std::int64_t>(2, 1), {.tokens = 2048, .beam = 500}), (Batches{{0, 1}, {1, 2}}));
}

TEST_F(BatchesOfInputs, HoldFewerTokensForWideBeams) {
  EXPECT_EQ(batches({10, 10, 10, 10}, {.tokens = 40, .beam = 10}), (Batches{{0, 2}, {2, 4}}));
}

TEST_F(BatchesOfInputs, AreSharedOutToTheThreads) {
  set_threads(2);
  EXPECT_EQ(batches({3, 3, 3, 3}, {.tokens = 100}), (Batches{{0, 2}, {2, 4}}));
}

}  // namespace
}  // namespace fovea
