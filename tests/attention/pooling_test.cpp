#include "attention/both_paths.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

TEST(LearnedPooling, GradientsMatchFiniteDifferences) {
  const Lengths lengths{5, 3};
  for (const Score& score : {Score(score::ScaledDot{}), Score(score::Cosine{.scale = 2})}) {
    check_gradients(
        [&](const auto& in) {
          return LearnedPooling{in[1], score}(in[0], {.lengths = lengths}).context;
        },
        {random_tensor({2, 5, 4}, 1), random_tensor({3, 4}, 2)});
  }
}

TEST(LearnedPooling, OfOneQueryIsAWeightedMean) {
  const LearnedPooling mean{Tensor::zeros({1, 3})};
  const Tensor x = random_tensor({2, 4, 3}, 1);
  const Attended a = mean(x, {.want = {.weights = true}});
  ASSERT_EQ(a.context.shape(), (Shape{2, 1, 3}));
  ASSERT_EQ(a.weights.shape(), (Shape{2, 1, 4}));
  for (std::int64_t f = 0; f < 3; ++f) {
    float sum = 0;
    for (std::int64_t t = 0; t < 4; ++t) sum += x.data()[t * 3 + f];
    EXPECT_NEAR(a.context.value().data()[f], sum / 4, 1e-6);
  }
}

TEST(ContextPooling, GradientsMatchFiniteDifferences) {
  const Lengths lengths{5, 2};
  check_gradients(
      [&](const auto& in) {
        return ContextPooling{in[1], in[2], in[3]}(in[0], lengths).context;
      },
      {random_tensor({2, 5, 4}, 1), random_tensor({6, 4}, 2, 0.5F), random_tensor({1, 6}, 3), random_tensor({6}, 4)});
}

TEST(Pooling, MadeLayersHaveParameters) {
  EXPECT_EQ(LearnedPooling::make(2, 8, 1)(random_tensor({3, 5, 8}, 1)).context.shape(), (Shape{3, 2, 8}));
  const ContextPooling pool = ContextPooling::make(8, 6, 1);
  EXPECT_EQ(pool(random_tensor({3, 5, 8}, 1)).context.shape(), (Shape{3, 1, 8}));
  for (const auto& [name, var] : pool.parameters()) EXPECT_TRUE(var.requires_grad()) << name;
}

}  // namespace
}  // namespace fovea
