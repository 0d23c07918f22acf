// Which values each dropout rate of the options drops, and what R-Drop asks of them.
#include <gtest/gtest.h>

#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::SmallTraining;

// The loss of the first step. `silent`: weights set to zero, so that what feeds them cannot matter.
double loss_with(const std::function<void(TrainOptions&)>& set, const std::vector<std::string>& silent = {}) {
  SmallTraining t;
  t.build();
  for (const std::string& name : silent) t.silence(name);
  set(t.options);
  t.options.max_steps = 1;
  return t.run().observer.reports[0].loss;
}

const std::vector<std::string> kFeedForward{"feed.second.weight"};
const std::vector<std::string> kAttention{"self.output.weight", "cross.output.weight"};

TEST(DropoutOptions, DropoutIsApplied) {
  EXPECT_NE(loss_with([](TrainOptions& o) { o.dropout = 0.3F; }), loss_with([](TrainOptions&) {}));
}

TEST(DropoutOptions, AttentionDropoutIsOfAttentionWeightsAlone) {
  const auto some = [](TrainOptions& o) { o.attention_dropout = 0.5F; };
  const auto none = [](TrainOptions&) {};
  EXPECT_NE(loss_with(some), loss_with(none));
  EXPECT_NE(loss_with(some, kFeedForward), loss_with(none, kFeedForward));
  EXPECT_EQ(loss_with(some, kAttention), loss_with(none, kAttention));
}

TEST(DropoutOptions, InnerDropoutIsInsideFeedForwardLayersAlone) {
  const auto some = [](TrainOptions& o) { o.inner_dropout = 0.5F; };
  const auto none = [](TrainOptions&) {};
  EXPECT_NE(loss_with(some), loss_with(none));
  EXPECT_NE(loss_with(some, kAttention), loss_with(none, kAttention));
  EXPECT_EQ(loss_with(some, kFeedForward), loss_with(none, kFeedForward));
}

// loss = nll + r_drop * divergence, the divergence being that of two masks, which the seed alone decides.
TEST(DropoutOptions, RDropWeighsTheDivergence) {
  const auto loss = [](float r_drop) {
    return loss_with([r_drop](TrainOptions& o) {
      o.dropout = 0.3F;
      o.loss.r_drop = r_drop;
    });
  };
  const double base = loss(1e-6F);
  const double once = loss(1) - base;
  EXPECT_GT(once, 1e-3);
  EXPECT_NEAR(loss(4) - base, 4 * once, 1e-3 * once);
}

TEST(DropoutOptions, WithoutDropoutRDropCostsNothing) {
  EXPECT_NEAR(loss_with([](TrainOptions& o) { o.loss.r_drop = 5; }), loss_with([](TrainOptions&) {}), 1e-6);
}

}  // namespace
}  // namespace fovea
