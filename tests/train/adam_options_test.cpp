// Each of Adam's options by numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/train/adam.hpp"

namespace fovea {
namespace {

// One weight of two values, 1 and -2, stepped with a rate of 0.1 and the gradients given.
std::vector<float> after(const AdamOptions& options, const std::vector<std::vector<float>>& gradients, double scale = 1,
                         std::vector<double>* norms = nullptr) {
  Parameters p(1);
  p.put("w", Tensor::of({2}, {1.0F, -2.0F}));
  const Var w = p.get("w", {2}, Init::zeros);
  Adam adam(p, options);
  for (const auto& gradient : gradients) {
    w.accumulate(Tensor::of({2}, gradient));
    const double norm = adam.step(0.1, scale);
    if (norms != nullptr) norms->push_back(norm);
  }
  return {w.value().data()[0], w.value().data()[1]};
}

AdamOptions unclipped() {
  return {.beta2 = 0.98F, .epsilon = 1e-9F, .clip = 0};
}

TEST(AdamOptions, TheFirstStepIsTheRateInTheGradientsDirection) {
  const auto w = after(unclipped(), {{0.01F, -300.0F}});
  EXPECT_NEAR(w[0], 1 - 0.1, 1e-6);
  EXPECT_NEAR(w[1], -2 + 0.1, 1e-6);
}

TEST(AdamOptions, BetasAndEpsilonAreThoseOfThePaper) {
  AdamOptions options = unclipped();
  options.beta1 = 0.5F;
  options.beta2 = 0.75F;
  options.epsilon = 0.25F;
  // g = 2, then -1:  m = 1, then 0;  v = 1, then 1;  bias corrections 1/2 and 1/4, then 3/4 and 7/16.
  const double first = 1 - 0.1 * (1 / 0.5) / (std::sqrt(1 / 0.25) + 0.25);
  const double second = first - 0.1 * 0.0;
  EXPECT_NEAR(after(options, {{2, 0}})[0], first, 1e-6);
  EXPECT_NEAR(after(options, {{2, 0}, {-1, 0}})[0], second, 1e-6);
  // g = 2, then 2:  m = 1.5, v = 1.75.
  EXPECT_NEAR(after(options, {{2, 0}, {2, 0}})[0], first - 0.1 * (1.5 / 0.75) / (std::sqrt(1.75 / (7.0 / 16)) + 0.25),
              1e-6);
}

TEST(AdamOptions, WeightDecayIsDecoupledFromTheGradient) {
  AdamOptions options = unclipped();
  options.weight_decay = 0.5F;
  // Without a gradient the weights shrink by rate * decay; with one, by as much more.
  const auto still = after(options, {{0, 0}});
  EXPECT_NEAR(still[0], 1 - 0.05, 1e-6);
  EXPECT_NEAR(still[1], -2 + 0.1, 1e-6);
  const auto moved = after(options, {{3, 3}});
  EXPECT_NEAR(moved[0], 1 - 0.05 - 0.1, 1e-6);
  EXPECT_NEAR(moved[1], -2 + 0.1 - 0.1, 1e-6);
}

TEST(AdamOptions, TheNormIsOfTheScaledGradientBeforeTheCut) {
  AdamOptions options = unclipped();
  options.clip = 0.5F;
  std::vector<double> norms;
  (void)after(options, {{3, 4}}, 0.5, &norms);
  EXPECT_NEAR(norms[0], 2.5, 1e-6);
}

TEST(AdamOptions, ClipKeepsTheDirection) {
  AdamOptions options = unclipped();
  options.epsilon = 1e3F;  // the step is then rate / epsilon times the gradient
  options.clip = 1;
  const auto cut = after(options, {{30, 40}});
  EXPECT_NEAR((1 - cut[0]) * 1e4, 0.6, 5e-3);
  EXPECT_NEAR((-2 - cut[1]) * 1e4, 0.8, 5e-3);
  const auto below = after(options, {{0.3F, 0.4F}});
  EXPECT_NEAR((1 - below[0]) * 1e4, 0.3, 5e-3);
  options.clip = 0;
  EXPECT_NEAR((1 - after(options, {{30, 40}})[0]) * 1e4, 30 / 1.03, 5e-2);
}

TEST(AdamOptions, GradientsAreClearedAfterAStep) {
  Parameters p(1);
  const Var w = p.get("w", {2}, Init::ones);
  Adam adam(p);
  w.accumulate(Tensor::full({2}, 1.0F));
  (void)adam.step();
  for (const float g : w.grad().values()) EXPECT_EQ(g, 0);
}

TEST(AdamOptions, ItCountsItsStepsAndTakesTheOptionsRate) {
  Parameters p(1);
  const Var w = p.get("w", {1}, Init::ones);
  Adam adam(p, {.rate = 0.25F});
  EXPECT_EQ(adam.steps(), 0);
  w.accumulate(Tensor::full({1}, 3.0F));
  (void)adam.step();
  EXPECT_EQ(adam.steps(), 1);
  EXPECT_NEAR(w.value().data()[0], 0.75, 1e-6);  // the first step is the rate
  adam.set_steps(7);
  (void)adam.step(0.1);
  EXPECT_EQ(adam.steps(), 8);
}

TEST(AdamOptions, WhatCannotBeIsRefused) {
  Parameters p(1);
  EXPECT_THROW(Adam(p, {.rate = 0}), UsageError);
  EXPECT_THROW(Adam(p, {.beta2 = 1}), UsageError);
}

TEST(AdamOptions, AGradientThatIsNoNumberIsAnError) {
  EXPECT_THROW((void)after(unclipped(), {{1, NAN}}), Error);
}

}  // namespace
}  // namespace fovea
