#include "train/micro_batch.hpp"

#include <gmock/gmock.h>

#include "fovea/text.hpp"
#include "support/copy_task.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;

class TwoPairs final : public Pairs {
 public:
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override { return source_[i]; }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override { return target_[i]; }

 private:
  const std::vector<std::int32_t> source_[2] = {{10, 11, 12}, {13}};
  const std::vector<std::int32_t> target_[2] = {{20}, {21, 22}};
};

TEST(MicroBatch, RowsHoldTheirPairsBetweenTheirMarksAndPadding) {
  MicroBatch batch;
  batch.fill(TwoPairs(), std::vector<std::int64_t>{0, 1});
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.source_length, 4);
  EXPECT_EQ(batch.target_length, 3);
  EXPECT_THAT(batch.source, ElementsAre(10, 11, 12, eos_id, 13, eos_id, pad_id, pad_id));
  EXPECT_THAT(batch.target, ElementsAre(bos_id, 20, pad_id, bos_id, 21, 22));
  EXPECT_THAT(batch.wanted, ElementsAre(20, eos_id, pad_id, 21, 22, eos_id));
  EXPECT_THAT(batch.source_lengths, ElementsAre(4, 2));
  EXPECT_THAT(batch.target_lengths, ElementsAre(2, 3));
  EXPECT_EQ(batch.source_tokens, 6);
  EXPECT_EQ(batch.target_tokens, 5);
}

TEST(MicroBatch, TwiceIsOneHalfAfterTheOther) {
  MicroBatch batch;
  batch.fill(TwoPairs(), std::vector<std::int64_t>{1, 0}, 2);
  EXPECT_EQ(batch.rows, 4);
  EXPECT_THAT(batch.wanted, ElementsAre(21, 22, eos_id, 20, eos_id, pad_id, 21, 22, eos_id, 20, eos_id, pad_id));
  EXPECT_THAT(batch.source_lengths, ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(batch.target_lengths, ElementsAre(3, 2, 3, 2));
  EXPECT_EQ(batch.target_tokens, 10);
}

TEST(MicroBatch, FillingAgainReusesTheMemory) {
  const test::BackwardsTask task(50, 12, 9, 3);
  const auto all = task.all();
  MicroBatch batch;
  batch.fill(task, all);
  const auto before = std::vector{batch.source.data(), batch.target.data(), batch.wanted.data()};
  batch.fill(task, std::span(all).first(20));
  batch.fill(task, all);
  EXPECT_EQ((std::vector{batch.source.data(), batch.target.data(), batch.wanted.data()}), before);
}

TEST(MicroBatch, ABatchIsCutIntoAsManyGroupsAsThreadsShareEvenly) {
  const test::BackwardsTask task(200, 12, 20, 3);
  std::int64_t tokens = 0;
  for (const auto i : task.all()) tokens += static_cast<std::int64_t>(task.target(i).size()) + 1;
  for (const int threads : {1, 2, 3}) {
    std::vector<std::int64_t> batch = task.all();
    std::vector<std::size_t> ends;
    cut_batch(task, batch, 256, threads, ends);
    ASSERT_EQ(ends.size() % static_cast<std::size_t>(threads), 0U);
    ASSERT_GE(static_cast<std::int64_t>(ends.size()) * 256, tokens);
    EXPECT_EQ(ends.back(), batch.size());
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch, task.all());  // each pair once
  }
}

}  // namespace
}  // namespace fovea
