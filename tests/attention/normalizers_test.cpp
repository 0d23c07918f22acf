#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using namespace normalizer;  // NOLINT(google-build-using-namespace)
using test::check_gradients;
using test::random_tensor;

// The weights of one row of scores, which are the keys themselves.
std::vector<float> weights_of(const std::vector<float>& scores, const Normalizer& how) {
  const auto n = static_cast<std::int64_t>(scores.size());
  const Tensor keys = Tensor::of({1, n, 1}, scores);
  const Attended a = attend(Tensor::full({1, 1, 1}, 1.0F), keys, keys,
                            {.score = score::Dot{}, .normalizer = how, .want = {.weights = true}});
  const auto values = a.weights.value().values();
  return {values.begin(), values.end()};
}

float total(const std::vector<float>& w) {
  return std::accumulate(w.begin(), w.end(), 0.0F);
}

TEST(Normalizers, RowsSumToOneEvenWhenScoresAreHuge) {
  for (const Normalizer& how : {Normalizer(Softmax{}), Normalizer(Sparsemax{}), Normalizer(Entmax{})}) {
    for (const auto& scores :
         {std::vector<float>{1e30F, -1e30F, 0.0F}, {1e30F, 1e30F, 3.0F}, {-1e30F, -1e30F, -1e30F}}) {
      EXPECT_NEAR(total(weights_of(scores, how)), 1.0F, 1e-6);
    }
  }
}

TEST(Normalizers, SparsemaxIsTheNearestPointOfTheSimplex) {
  EXPECT_EQ(weights_of({2.0F, 0.5F, 0.0F}, Sparsemax{}), (std::vector<float>{1, 0, 0}));
  const auto w = weights_of({0.6F, 0.4F, -1.0F}, Sparsemax{});
  EXPECT_NEAR(w[0], 0.6F, 1e-6);
  EXPECT_NEAR(w[1], 0.4F, 1e-6);
  EXPECT_EQ(w[2], 0.0F);
}

TEST(Normalizers, EntmaxWeightsSatisfyTheirEquation) {
  const std::vector<float> scores{1.0F, 0.3F, 0.2F, -0.5F, -3.0F};
  const auto w = weights_of(scores, Entmax{});
  EXPECT_NEAR(total(w), 1.0F, 1e-6);
  const float tau = scores[0] / 2 - std::sqrt(w[0]);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const float x = std::max(0.0F, scores[i] / 2 - tau);
    EXPECT_NEAR(w[i], x * x, 1e-6);
  }
  EXPECT_EQ(w[4], 0.0F);
}

TEST(Normalizers, TemperatureFlattens) {
  const auto cold = weights_of({1.0F, 2.0F}, Softmax{});
  const auto warm = weights_of({10.0F, 20.0F}, Softmax{.temperature = 10});
  EXPECT_NEAR(cold[1], warm[1], 1e-6);
}

TEST(Normalizers, HardTakesTheFirstLargest) {
  EXPECT_EQ(weights_of({1.0F, 3.0F, 3.0F, 2.0F}, Hard{}), (std::vector<float>{0, 1, 0, 0}));
}

TEST(Normalizers, SampledDrawsWithSoftmaxProbabilities) {
  const Tensor keys = Tensor::of({1, 3, 1}, {0.0F, 1.0F, 2.0F});
  const Attended a = attend(Tensor::full({1, 20000, 1}, 1.0F), keys, keys,
                            {.score = score::Dot{}, .normalizer = Sampled{.seed = 7}, .want = {.column_sums = true}});
  const auto expected = weights_of({0.0F, 1.0F, 2.0F}, Softmax{});
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(a.column_sums.values()[j] / 20000, expected[j], 0.01);
}

TEST(Normalizers, SampledReportsTheLogProbabilityOfItsChoice) {
  const Tensor keys = Tensor::of({1, 3, 1}, {0.0F, 1.0F, 2.0F});
  const auto p = weights_of({0.0F, 1.0F, 2.0F}, Softmax{});
  const Attended a = attend(Tensor::full({1, 8, 1}, 1.0F), keys, keys,
                            {.score = score::Dot{}, .normalizer = Sampled{}, .want = {.top = 1}});
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(a.log_probability.value().values()[i], std::log(p[static_cast<std::size_t>(a.top.index[i])]), 1e-5);
  }
}

TEST(Normalizers, GradientsMatchFiniteDifferences) {
  for (const Normalizer& how :
       {Normalizer(Softmax{.temperature = 2}), Normalizer(Sparsemax{}), Normalizer(Sparsemax{.temperature = 0.5F}),
        Normalizer(Entmax{}), Normalizer(Entmax{.temperature = 3}), Normalizer(Sigmoid{.bias = -1}),
        Normalizer(Sigmoid{.temperature = 2}), Normalizer(normalizer::Tanh{})}) {
    SCOPED_TRACE(how.index());
    // Both outputs: the context, and the weights themselves. A small step: sparse weights have corners.
    for (const bool weights : {false, true}) {
      check_gradients(
          [&](const auto& in) {
            const Attended a =
                attend(in[0], in[1], in[2], {.normalizer = how, .causal = true, .want = {.weights = true}});
            return weights ? a.weights : a.context;
          },
          {random_tensor({2, 4, 3}, 1), random_tensor({2, 6, 3}, 2), random_tensor({2, 6, 2}, 3)},
          {.step = 2e-3, .tolerance = 5e-3});
    }
  }
}

TEST(Normalizers, ThatDoNotSumToOneSeeWhatAllKeysShare) {
  for (const Normalizer& how : {Normalizer(Sigmoid{}), Normalizer(normalizer::Tanh{})}) {
    SCOPED_TRACE(how.index());
    // One set of queries for both sequences, too.
    for (const Shape& queries : {Shape{2, 4, 3}, Shape{4, 3}}) {
      check_gradients(
          [&](const auto& in) {
            return attend(in[0], in[1], in[2], {.score = score::General{in[3], in[4], in[5], in[6]}, .normalizer = how})
                .context;
          },
          {random_tensor(queries, 1), random_tensor({2, 6, 3}, 2), random_tensor({2, 6, 2}, 3),
           random_tensor({3, 3}, 4), random_tensor({3}, 5), random_tensor({3}, 6), random_tensor({1}, 7)},
          {.step = 4e-3, .tolerance = 4e-3});
    }
  }
}

TEST(Normalizers, RequestsThatTanhCannotAnswerAreRefused) {
  const Tensor x = random_tensor({1, 4, 3}, 2);
  EXPECT_THROW((void)attend(x, x, x, {.normalizer = normalizer::Tanh{}, .want = {.top = 2}}), UsageError);
  EXPECT_THROW((void)attend(x, x, x, {.normalizer = normalizer::Tanh{}, .want = {.entropy = true}}), UsageError);
}

TEST(Normalizers, HardPassesNothingToTheScoresUnlessStraightThrough) {
  const Tensor k = random_tensor({1, 4, 3}, 2);
  const Tensor v = random_tensor({1, 4, 2}, 3);
  const auto dq = [&](const Normalizer& how) {
    const Var q = Var::parameter(random_tensor({1, 2, 3}, 1));
    backward(sum(attend(q, k, v, {.normalizer = how}).context));
    return q.grad();
  };
  const auto size = [](const Tensor& t) {
    float s = 0;
    for (const float x : t.values()) s += std::abs(x);
    return s;
  };
  EXPECT_EQ(size(dq(Hard{})), 0.0F);
  EXPECT_EQ(size(dq(Sampled{})), 0.0F);
  // d(sum of context)/d(weights) does not depend on the weights, so straight-through is softmax's gradient.
  test::expect_near(dq(Hard{.straight_through = true}), dq(Softmax{}), 1e-6);
  test::expect_near(dq(Sampled{.estimator = Estimator::straight_through}), dq(Softmax{}), 1e-6);
}

TEST(Normalizers, ReinforceLearnsThroughTheLogProbability) {
  const Tensor reward = Tensor::of({1, 2}, {1.0F, -2.0F});
  const Tensor baseline = Tensor::of({1, 2}, {0.5F, 0.5F});
  check_gradients(
      [&](const auto& in) {
        const Attended a = attend(in[0], in[1], in[1], {.normalizer = Sampled{.temperature = 2, .seed = 3}});
        return reinforce_loss(a.log_probability, reward, baseline);
      },
      {random_tensor({1, 2, 3}, 1), random_tensor({1, 4, 3}, 2)}, {.step = 2e-3});
}

TEST(Normalizers, EntmaxOfAnyAlphaSumsToOneAndMeetsItsClosedForms) {
  const Tensor x = random_tensor({2, 3, 40, 5}, 1, 2);
  const auto weights = [&](const Normalizer& how) {
    return attend(x, {.normalizer = how, .want = {.weights = true}}).weights.value();
  };
  test::expect_near(weights(Entmax{.alpha = 2}), weights(Sparsemax{}), 1e-6);
  test::expect_near(weights(Entmax{.alpha = 1.5001F}), weights(Entmax{}), 1e-3);
  test::expect_near(weights(Entmax{.alpha = 1.01F}), weights(Softmax{}), 2e-2);
  const Tensor w = weights(Entmax{.alpha = 1.3F});
  for (std::int64_t row = 0; row < 2 * 3 * 40; ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < 40; ++j) sum += static_cast<double>(w.data()[row * 40 + j]);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Normalizers, EntmaxLearnsItsAlpha) {
  check_gradients(
      [](const std::vector<Var>& in) {
        return attend(in[0], in[0], in[1], {.normalizer = Entmax{.alphas = in[2]}}).context;
      },
      {random_tensor({2, 3, 6, 4}, 1), random_tensor({2, 3, 6, 3}, 2), Tensor::of({3}, {1.2F, 1.5F, 1.8F})},
      {.step = 3e-3, .tolerance = 6e-3});
  const Var x = random_tensor({1, 2, 3, 4}, 1);
  EXPECT_THROW((void)attend(x, {.normalizer = Entmax{.alpha = 1}}), UsageError);
  EXPECT_THROW((void)attend(x, {.normalizer = Entmax{.alpha = 2.1F}}), UsageError);
  EXPECT_THROW((void)attend(x, {.normalizer = Entmax{.alphas = Tensor::of({1}, {1.5F})}}), ShapeError);
  EXPECT_THROW((void)attend(x, {.normalizer = Entmax{.alphas = Tensor::of({2}, {1.5F, 3.0F})}}), UsageError);
}

}  // namespace
}  // namespace fovea
