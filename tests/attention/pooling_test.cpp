#include <cmath>

#include "attention/both_paths.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

TEST(LearnedPooling, GradientsMatchFiniteDifferences) {
  const Lengths lengths{5, 3};
  for (const Score& score : {Score(score::ScaledDot{}), Score(score::Cosine{.scale = 2})}) {
    check_gradients(
        [&](Parameters& p, const auto& in) {
          LearnedPooling pool(p, "pool", {.dim = 4, .queries = 3});
          pool.score = score;
          return pool(in[0], {.lengths = lengths}).context;
        },
        {random_tensor({2, 5, 4}, 1)});
  }
}

TEST(LearnedPooling, OfOneQueryIsAWeightedMean) {
  LearnedPooling mean;
  mean.queries = Tensor::zeros({1, 3});
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
      [&](Parameters& p, const auto& in) { return ContextPooling(p, "pool", 4, 6)(in[0], lengths).context; },
      {random_tensor({2, 5, 4}, 1)});
}

// y = sum_t softmax_t(c . tanh(W x_t + b)) x_t, written out.
TEST(ContextPooling, IsWhatTheEquationsSay) {
  Parameters p(3);
  const ContextPooling pool(p, "pool", 3, 5);
  test::scatter(p);
  const Tensor x = random_tensor({1, 4, 3}, 1);
  double weight[4], total = 0, expected[3] = {};
  for (std::int64_t t = 0; t < 4; ++t) {
    double score = 0;
    for (std::int64_t h = 0; h < 5; ++h) {
      double sum = pool.b.value().data()[h];
      for (std::int64_t f = 0; f < 3; ++f) sum += double{pool.w.value().data()[h * 3 + f]} * x.data()[t * 3 + f];
      score += std::tanh(sum) * pool.context.value().data()[h];
    }
    total += weight[t] = std::exp(score);
  }
  for (std::int64_t t = 0; t < 4; ++t) {
    for (std::int64_t f = 0; f < 3; ++f) expected[f] += weight[t] / total * x.data()[t * 3 + f];
  }
  const Tensor y = pool(x).context.value();
  ASSERT_EQ(y.shape(), (Shape{1, 1, 3}));
  for (std::int64_t f = 0; f < 3; ++f) EXPECT_NEAR(y.data()[f], expected[f], 1e-5);
}

}  // namespace
}  // namespace fovea
