// Adam on tables that are trained by rows.
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/row_table.hpp"
#include "fovea/ops.hpp"
#include "fovea/train/adam.hpp"

namespace fovea {
namespace {

TEST(AdamRows, RowsThatEveryStepReadsAreTrainedAsTheWholeTableWouldBe) {
  Parameters a(7), b(7);
  const Embedding plain(a, "words", 4, 9);
  const RowTable table(b, "words", 4, 9);
  Adam whole(a, {.rate = 0.01F, .weight_decay = 0.1F, .clip = 0.5F, .ema = 0.9F});
  Adam rows(b, {.rate = 0.01F, .weight_decay = 0.1F, .clip = 0.5F, .ema = 0.9F}, {table.trained()});
  const std::vector<std::int32_t> ids{0, 1, 2, 3, 1};
  for (int step = 0; step < 5; ++step) {
    const Var x = plain(ids, {5});
    const Var y = table(ids, {5});
    backward(sum(mul(x, tanh(x))));
    backward(sum(mul(y, tanh(y))));
    EXPECT_NEAR(whole.step(), rows.step(), 1e-5);
  }
  for (std::int64_t i = 0; i < 36; ++i) {
    EXPECT_NEAR(a.find("words")->value().data()[i], b.find("words")->value().data()[i], 1e-6F);
    EXPECT_NEAR(whole.mean()[0].data()[i], rows.mean()[0].data()[i], 1e-6F);
  }
}

TEST(AdamRows, OthersStayAsTheyAre) {
  Parameters p(7);
  const RowTable table(p, "words", 4, 3);
  Adam adam(p, {.rate = 0.1F, .weight_decay = 0.1F}, {table.trained()});
  const Tensor before = table.table.clone();
  for (int step = 0; step < 3; ++step) {
    const std::vector<std::int32_t> ids{2};
    const Var y = table(ids, {1});
    backward(sum(mul(y, y)));
    EXPECT_GT(adam.step(), 0);
    EXPECT_TRUE(table.gradient->rows().empty()) << "the step clears it";
  }
  for (std::int64_t i = 0; i < 12; ++i) {
    if (i / 3 == 2) {
      EXPECT_NE(before.data()[i], table.table.data()[i]);
    } else {
      EXPECT_EQ(before.data()[i], table.table.data()[i]);
    }
  }
}

TEST(AdamRows, ANameThatIsNoWeightIsRefused) {
  Parameters p(7);
  const RowTable table(p, "words", 4, 3);
  EXPECT_THROW(Adam(p, {}, {{"others", table.gradient}}), UsageError);
}

}  // namespace
}  // namespace fovea
