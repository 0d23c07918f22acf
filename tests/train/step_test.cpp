// What one step of training does with a batch: the loss it takes, the gradient it divides, the weights it moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::expect_near;
using test::SmallTraining;

constexpr std::size_t kVocabulary = 10;

// A model that predicts the same distribution everywhere: softmax of the output layer's bias.
void predict_always(SmallTraining& t) {
  t.build();
  std::ranges::fill(t.weight("output.weight"), 0.0F);
  for (std::size_t i = 0; i < kVocabulary; ++i) t.weight("output.bias")[i] = 0.3F * static_cast<float>(i);
}

std::array<double, kVocabulary> prediction() {
  std::array<double, kVocabulary> p{};
  double sum = 0;
  for (std::size_t i = 0; i < kVocabulary; ++i) sum += p[i] = std::exp(0.3 * static_cast<double>(i));
  for (double& v : p) v /= sum;
  return p;
}

// How often each token is wanted in the first `pairs`, the ends of sequences included.
std::array<double, kVocabulary> wanted(const SmallTraining& t, std::int64_t pairs) {
  std::array<double, kVocabulary> count{};
  for (std::int64_t i = 0; i < pairs; ++i) {
    for (const std::int32_t id : t.task.target(i)) count[static_cast<std::size_t>(id)] += 1;
    count[eos_id] += 1;
  }
  return count;
}

double sum_of(const std::array<double, kVocabulary>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

TEST(TrainingStep, TheLossIsTheSmoothedCrossEntropyPerToken) {
  for (const float smoothing : {0.0F, 0.1F, 0.4F}) {
    SmallTraining t;
    predict_always(t);
    t.options.loss.label_smoothing = smoothing;
    t.options.max_steps = 1;
    t.run();
    const auto p = prediction();
    const auto count = wanted(t, 10);
    double nll = 0;
    double uniform = 0;
    for (std::size_t i = 0; i < kVocabulary; ++i) {
      nll -= count[i] * std::log(p[i]) / sum_of(count);
      uniform -= std::log(p[i]) / kVocabulary;
    }
    const TrainReport& report = t.observer.reports[0];
    EXPECT_NEAR(report.loss, (1 - smoothing) * nll + smoothing * uniform, 1e-5);
    EXPECT_NEAR(report.perplexity, std::exp(nll), 1e-4);
    EXPECT_NEAR(report.accuracy, count[kVocabulary - 1] / sum_of(count), 1e-9);  // the likeliest is always the same
    EXPECT_EQ(report.state.tokens, static_cast<std::int64_t>(sum_of(count)));
  }
}

// With an epsilon far above any gradient, Adam's first step is -rate * gradient / epsilon.
TEST(TrainingStep, TheGradientIsTheMeanOverTokens) {
  for (const int accumulate : {1, 3}) {
    SmallTraining t;
    predict_always(t);
    t.options.accumulate = accumulate;
    t.options.adam.epsilon = 1e4F;
    t.options.adam.rate = 1e4;
    t.options.adam.clip = 0;
    t.options.max_steps = 1;
    t.run();
    const auto p = prediction();
    const auto count = wanted(t, 10 * accumulate);
    const auto bias = t.weight("output.bias");
    for (std::size_t i = 0; i < kVocabulary; ++i) {
      const double gradient = p[i] - count[i] / sum_of(count);
      EXPECT_NEAR(bias[i], 0.3 * static_cast<double>(i) - gradient, 1e-4);
    }
  }
}

TEST(TrainingStep, ClipCutsTheGradientToItsNorm) {
  const auto moved = [](float clip, double* norm) {
    SmallTraining t;
    t.build();
    const auto before = t.now();
    t.options.adam.clip = clip;
    t.options.adam.epsilon = 1e4F;
    t.options.adam.rate = 1e3;
    t.options.max_steps = 1;
    t.run();
    *norm = t.observer.reports[0].gradient_norm;
    const auto after = t.now();
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t k = 0; k < before[i].size(); ++k) squares += std::pow(after[i][k] - before[i][k], 2);
    }
    return 10 * std::sqrt(squares);  // rate / epsilon is 1 / 10
  };
  double norm = 0;
  const double free = moved(0, &norm);
  EXPECT_NEAR(free, norm, 1e-3 * norm);
  ASSERT_GT(norm, 0.3);
  EXPECT_NEAR(moved(0.25F, &norm), 0.25, 1e-3);
  EXPECT_NEAR(norm, free, 1e-3 * free);  // the norm before the cut is reported
  EXPECT_NEAR(moved(static_cast<float>(2 * free), &norm), free, 1e-3 * free);
}

TEST(TrainingStep, AccumulatedBatchesAreOneLargerBatch) {
  SmallTraining parts;
  SmallTraining whole;
  whole.plan.size = 20;
  parts.options.accumulate = 2;
  parts.options.adam.epsilon = whole.options.adam.epsilon = 1e-2F;  // so that the order of a sum does not decide a sign
  parts.run();
  whole.run();
  EXPECT_EQ(parts.steps(), whole.steps());
  EXPECT_EQ(parts.plan.asked.size(), 8U);
  EXPECT_EQ(whole.plan.asked.size(), 4U);
  expect_near(parts.now(), whole.now(), 1e-4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(parts.observer.reports[i].loss, whole.observer.reports[i].loss, 1e-4);
    EXPECT_EQ(parts.observer.reports[i].state.tokens, whole.observer.reports[i].state.tokens);
  }
}

TEST(TrainingStep, ReplicasChangeOnlyTheOrderOfSums) {
  SmallTraining one;
  one.options.adam.epsilon = 1e-2F;
  one.run();
  for (const int replicas : {2, 3}) {
    SmallTraining more;
    more.options.adam.epsilon = 1e-2F;
    more.options.replicas = replicas;
    expect_near(more.run().now(), one.now(), 1e-4);
  }
}

TEST(TrainingStep, MicroBatchesChangeOnlyTheOrderOfSums) {
  SmallTraining large;
  SmallTraining small;
  large.options.adam.epsilon = small.options.adam.epsilon = 1e-2F;
  small.options.micro_tokens = 8;
  expect_near(small.run().now(), large.run().now(), 1e-4);
}

TEST(TrainingStep, AnotherSeedDropsOtherValues) {
  const auto loss = [](float dropout, std::uint64_t seed) {
    SmallTraining t;
    t.options.dropout = dropout;
    t.options.seed = seed;
    t.options.max_steps = 1;
    return t.run().observer.reports[0].loss;
  };
  EXPECT_EQ(loss(0.3F, 1), loss(0.3F, 1));
  EXPECT_NE(loss(0.3F, 1), loss(0.3F, 2));
  EXPECT_EQ(loss(0, 1), loss(0, 2));
}

TEST(TrainingStep, EachStepDropsOtherValues) {
  SmallTraining t;
  t.plan.count = 10;
  t.options.dropout = 0.3F;
  t.options.adam.rate = 1e-30;  // the weights stay
  t.run();
  EXPECT_NE(t.observer.reports[0].loss, t.observer.reports[1].loss);
}

}  // namespace
}  // namespace fovea
