// Every option that cannot be is refused by name, and what is just possible is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fovea/error.hpp"
#include "fovea/train/options.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using Change = std::function<void(TrainOptions&)>;

// The learning rate is the one that has no default of its own: what suits depends on the model.
TrainOptions possible() {
  TrainOptions options;
  options.adam.rate = 1e-3;
  return options;
}

void expect_refused(const std::string& name, const Change& change) {
  TrainOptions options = possible();
  change(options);
  const std::string message = test::message_of<UsageError>([&] { options.check(); });
  EXPECT_THAT(message, testing::HasSubstr(name));
}

void expect_taken(const Change& change) {
  TrainOptions options = possible();
  change(options);
  EXPECT_NO_THROW(options.check());
}

// A number of the training, of its optimizer or of its loss.
float& value(TrainOptions& o, float TrainOptions::*field) {
  return o.*field;
}
float& value(TrainOptions& o, float AdamOptions::*field) {
  return o.adam.*field;
}
float& value(TrainOptions& o, float LossOptions::*field) {
  return o.loss.*field;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST(TrainOptions, TheDefaultsArePossibleWithALearningRate) {
  expect_taken([](TrainOptions&) {});
  expect_refused("learning_rate", [](TrainOptions& o) { o = {}; });
}

TEST(TrainOptions, CountsBelowTheirLeastAreRefused) {
  expect_refused("max_steps", [](TrainOptions& o) { o.max_steps = -1; });
  expect_refused("max_epochs", [](TrainOptions& o) { o.max_epochs = -1; });
  expect_refused("batch_tokens", [](TrainOptions& o) { o.batch_tokens = 0; });
  expect_refused("micro_tokens", [](TrainOptions& o) { o.micro_tokens = 0; });
  expect_refused("accumulate", [](TrainOptions& o) { o.accumulate = 0; });
  expect_refused("replicas", [](TrainOptions& o) { o.replicas = -1; });
  expect_refused("replicas", [](TrainOptions& o) { o.replicas = 1025; });
  expect_refused("warmup", [](TrainOptions& o) { o.schedule.warmup = -1; });
  expect_refused("checkpoint_every", [](TrainOptions& o) { o.checkpoint_every = 0; });
  expect_refused("report_every", [](TrainOptions& o) { o.report_every = 0; });
  expect_refused("patience", [](TrainOptions& o) { o.patience = -1; });
  expect_refused("average", [](TrainOptions& o) { o.average = 0; });
  expect_refused("average", [](TrainOptions& o) { o.average = 101; });
  expect_taken([](TrainOptions& o) {
    o.batch_tokens = o.micro_tokens = o.accumulate = 1;
    o.checkpoint_every = o.report_every = 1;
    o.replicas = 1024;
    o.average = 100;
    o.schedule.warmup = 0;
  });
}

TEST(TrainOptions, SharesAreFromZeroUpToButNotOne) {
  const auto share = [](const std::string& name, auto field) {
    for (const float wrong : {-0.01F, 1.0F, kNan}) {
      expect_refused(name, [=](TrainOptions& o) { value(o, field) = wrong; });
    }
    for (const float right : {0.0F, 0.999F}) {
      expect_taken([=](TrainOptions& o) { value(o, field) = right; });
    }
  };
  share("dropout", &TrainOptions::dropout);
  share("attention_dropout", &TrainOptions::attention_dropout);
  share("inner_dropout", &TrainOptions::inner_dropout);
  share("label_smoothing", &LossOptions::label_smoothing);
  share("beta1", &AdamOptions::beta1);
  share("beta2", &AdamOptions::beta2);
  share("ema", &AdamOptions::ema);
}

TEST(TrainOptions, WhatMustNotBeNegativeOrInfiniteIsRefused) {
  const auto measure = [](const std::string& name, auto field) {
    for (const float wrong : {-1.0F, kNan, kInfinite}) {
      expect_refused(name, [=](TrainOptions& o) { value(o, field) = wrong; });
    }
    expect_taken([=](TrainOptions& o) { value(o, field) = 0; });
  };
  measure("r_drop", &LossOptions::r_drop);
  measure("weight_decay", &AdamOptions::weight_decay);
  measure("clip", &AdamOptions::clip);
  for (const double wrong : {-1.0, std::nan(""), static_cast<double>(kInfinite)}) {
    expect_refused("max_minutes", [=](TrainOptions& o) { o.max_minutes = wrong; });
  }
  for (const float wrong : {0.0F, -1.0F, kNan}) {
    expect_refused("epsilon", [=](TrainOptions& o) { o.adam.epsilon = wrong; });
  }
  for (const double wrong : {0.0, -1.0, std::nan(""), static_cast<double>(kInfinite)}) {
    expect_refused("rate", [=](TrainOptions& o) { o.adam.rate = wrong; });
  }
}

TEST(TrainOptions, EmaAndAverageExcludeEachOther) {
  expect_refused("ema", [](TrainOptions& o) {
    o.adam.ema = 0.9F;
    o.average = 2;
  });
  expect_taken([](TrainOptions& o) { o.adam.ema = 0.9F; });
  expect_taken([](TrainOptions& o) { o.average = 2; });
}

TEST(TrainOptions, WhatFallsToZeroNeedsALastStep) {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::linear}) {
    expect_refused("cosine and linear", [kind](TrainOptions& o) { o.schedule.kind = kind; });
    expect_refused("cosine and linear", [kind](TrainOptions& o) {
      o.schedule.kind = kind;
      o.max_minutes = 10;
    });
    expect_taken([kind](TrainOptions& o) {
      o.schedule.kind = kind;
      o.max_steps = 10;
    });
    expect_taken([kind](TrainOptions& o) {
      o.schedule.kind = kind;
      o.max_epochs = 10;
    });
  }
}

}  // namespace
}  // namespace fovea
