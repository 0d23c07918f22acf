// Which weights are validated and saved: the step's own, or a mean.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::expect_near;
using test::SmallTraining;
using test::Weights;

// What is validated after steps 2, 4, … 10.
std::vector<Weights> validated(int average, float ema, std::int64_t every = 2) {
  SmallTraining t;
  t.options.max_steps = 10;
  t.options.checkpoint_every = every;
  t.options.average = average;
  t.options.adam.ema = ema;
  t.score = [](std::int64_t i) { return static_cast<double>(i); };
  t.run();
  EXPECT_EQ(t.saved, t.validated);
  return t.validated;
}

TEST(Averaging, WithoutItTheStepsOwnWeightsAreValidated) {
  SmallTraining t;
  t.options.max_steps = 4;
  t.options.checkpoint_every = 4;
  t.run();
  ASSERT_EQ(t.validated.size(), 1U);
  EXPECT_EQ(t.validated[0], t.now());
}

TEST(Averaging, IsTheMeanOfTheLastCheckpointsOfThoseThereAre) {
  const auto own = validated(1, 0);
  const auto means = validated(3, 0);
  ASSERT_EQ(own.size(), 5U);
  ASSERT_EQ(means.size(), 5U);
  for (std::size_t c = 0; c < 5; ++c) {
    const std::size_t first = c < 2 ? 0 : c - 2;
    Weights mean = own[first];
    for (std::size_t i = 0; i < mean.size(); ++i) {
      for (std::size_t k = 0; k < mean[i].size(); ++k) {
        double sum = 0;
        for (std::size_t o = first; o <= c; ++o) sum += own[o][i][k];
        mean[i][k] = static_cast<float>(sum / static_cast<double>(c - first + 1));
      }
    }
    expect_near(means[c], mean, 1e-6);
  }
}

TEST(Averaging, EmaIsTheExponentialMeanOfAllSteps) {
  SmallTraining t;
  t.build();
  Weights mean = t.now();
  const auto own = validated(1, 0, 1);
  const auto means = validated(1, 0.4F, 1);
  ASSERT_EQ(own.size(), 10U);
  ASSERT_EQ(means.size(), 10U);
  for (std::size_t s = 0; s < 10; ++s) {
    const double step = static_cast<double>(s) + 1;
    const double keeps = std::min(0.4, step / (step + 9));  // early on it forgets faster
    for (std::size_t i = 0; i < mean.size(); ++i) {
      for (std::size_t k = 0; k < mean[i].size(); ++k) {
        mean[i][k] = static_cast<float>(keeps * mean[i][k] + (1 - keeps) * own[s][i][k]);
      }
    }
    expect_near(means[s], mean, 1e-5);
  }
}

}  // namespace
}  // namespace fovea
