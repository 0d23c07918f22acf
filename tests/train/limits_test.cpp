// When a training ends, reports and validates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::SmallTraining;
using testing::ElementsAre;

TEST(Limits, MaxStepsIsTheNumberOfSteps) {
  SmallTraining t;
  t.options.max_steps = 7;
  t.run();
  EXPECT_EQ(t.steps(), 7);
  EXPECT_EQ(t.observer.states.back().step, 7);
  EXPECT_EQ(t.end, Trainer::End::limit);
}

TEST(Limits, MaxEpochsGoesThroughEveryBatchOfSoManyEpochsInOrder) {
  SmallTraining t;
  t.options.max_steps = 0;
  t.options.max_epochs = 2;
  t.run();
  EXPECT_EQ(t.steps(), 8);
  EXPECT_EQ(t.end, Trainer::End::limit);
  std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    for (std::int64_t batch = 0; batch < 4; ++batch) wanted.emplace_back(epoch, batch);
  }
  EXPECT_EQ(t.plan.asked, wanted);
}

TEST(Limits, MaxMinutesEndsWithTheFirstStepPastThem) {
  SmallTraining t;
  t.options.max_steps = 0;
  t.options.max_minutes = 0.05 / 60;
  t.observer.stop_after = 3000;  // no machine gets so far
  t.run();
  EXPECT_EQ(t.end, Trainer::End::limit);
  ASSERT_GT(t.steps(), 1);
  for (std::size_t i = 0; i + 1 < t.observer.states.size(); ++i) ASSERT_LT(t.observer.states[i].seconds, 0.05);
  EXPECT_GE(t.observer.states.back().seconds, 0.05);
}

TEST(Limits, TheFirstOfThemEndsIt) {
  SmallTraining t;
  t.options.max_steps = 3;
  t.options.max_epochs = 2;
  t.options.max_minutes = 100;
  EXPECT_EQ(t.run().steps(), 3);
  EXPECT_NEAR(t.observer.progresses[0], 1.0 / 3, 1e-9);
  EXPECT_NEAR(t.observer.progresses[2], 1, 1e-9);
}

TEST(Limits, ProgressCountsBatchesOfEpochs) {
  SmallTraining t;
  t.options.max_steps = 0;
  t.options.max_epochs = 2;
  t.run();
  ASSERT_EQ(t.steps(), 8);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(t.observer.progresses[i], static_cast<double>(i + 1) / 8, 1e-9);
  }
}

TEST(Limits, AScheduleThatFallsToZeroEndsWithTheNearestOfThem) {
  const auto last_rate = [](std::int64_t steps, std::int64_t epochs, int accumulate) {
    SmallTraining t;
    t.options.max_steps = steps;
    t.options.max_epochs = epochs;
    t.options.accumulate = accumulate;
    t.options.report_every = 1;
    t.options.adam.rate = 0.5;
    t.options.schedule = {.kind = ScheduleKind::linear, .warmup = 1};
    t.run();
    const auto& reports = t.observer.reports;
    return std::pair(reports.at(reports.size() - 2).rate, reports.back().rate);
  };
  // Four batches an epoch: 0.5 at the first step, then down to 0 at the last.
  EXPECT_NEAR(last_rate(0, 2, 1).first, 0.5 / 7, 1e-9);
  EXPECT_NEAR(last_rate(0, 2, 1).second, 0, 1e-9);
  EXPECT_NEAR(last_rate(0, 2, 2).first, 0.5 / 3, 1e-9) << "two batches a step";
  EXPECT_NEAR(last_rate(0, 2, 2).second, 0, 1e-9);
  EXPECT_NEAR(last_rate(5, 2, 1).first, 0.5 / 4, 1e-9) << "steps end it first";
  EXPECT_NEAR(last_rate(100, 2, 1).second, 0, 1e-9) << "epochs do";
}

TEST(Limits, CheckpointEveryIsWhenItValidatesAndTheEndIsOneMore) {
  SmallTraining t;
  t.options.max_steps = 10;
  t.options.checkpoint_every = 3;
  t.run();
  EXPECT_THAT(t.observer.validated_at, ElementsAre(3, 6, 9, 10));
  SmallTraining even;
  even.options.max_steps = 6;
  even.options.checkpoint_every = 3;
  even.run();
  EXPECT_THAT(even.observer.validated_at, ElementsAre(3, 6));
}

TEST(Limits, ACheckpointHoldsTheStepItWasWrittenAt) {
  SmallTraining t;
  t.options.max_steps = 10;
  t.options.checkpoint_every = 3;
  std::vector<std::int64_t> found;
  t.score = [&](std::int64_t) {  // the file that validation finds is the one before it
    found.push_back(read_train_state(t.folder / "checkpoint", SmallTraining::kFingerprint).step);
    return 0.0;
  };
  t.run();
  EXPECT_THAT(found, ElementsAre(0, 3, 6, 9));
  EXPECT_EQ(read_train_state(t.folder / "checkpoint", SmallTraining::kFingerprint).step, 10);
}

TEST(Limits, ReportEveryIsWhenItReportsAndTheRestIsReportedAtTheEnd) {
  SmallTraining t;
  t.options.max_steps = 10;
  t.options.report_every = 4;
  t.run();
  std::vector<std::int64_t> steps;
  for (const TrainReport& r : t.observer.reports) steps.push_back(r.state.step);
  EXPECT_THAT(steps, ElementsAre(4, 8, 10));
}

TEST(Limits, AReportIsTheMeanOfTheTokensSinceTheLastOne) {
  SmallTraining each;
  SmallTraining rare;
  each.options.max_steps = rare.options.max_steps = 4;
  rare.options.report_every = 2;
  each.run();
  rare.run();
  ASSERT_EQ(each.observer.reports.size(), 4U);
  ASSERT_EQ(rare.observer.reports.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const TrainReport& a = each.observer.reports[2 * i];
    const TrainReport& b = each.observer.reports[2 * i + 1];
    const auto before = i == 0 ? 0.0 : static_cast<double>(each.observer.reports[2 * i - 1].state.tokens);
    const auto first = static_cast<double>(a.state.tokens) - before;
    const auto second = static_cast<double>(b.state.tokens - a.state.tokens);
    const TrainReport& mean = rare.observer.reports[i];
    EXPECT_NEAR(mean.loss, (a.loss * first + b.loss * second) / (first + second), 1e-6);
    EXPECT_NEAR(mean.accuracy, (a.accuracy * first + b.accuracy * second) / (first + second), 1e-6);
    EXPECT_NEAR(std::log(mean.perplexity), mean.loss, 1e-5);  // nothing is smoothed here
  }
}

TEST(Limits, TheReportedRateIsTheSchedules) {
  SmallTraining t;
  t.options.schedule = {.kind = ScheduleKind::inverse_sqrt, .warmup = 2};
  t.options.max_steps = 8;
  t.run();
  ASSERT_EQ(t.observer.reports.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(t.observer.reports[i].rate, 1e-2 * t.options.schedule.share(static_cast<std::int64_t>(i) + 1));
  }
}

TEST(Limits, AnObserverCanStopTheTraining) {
  SmallTraining t;
  t.observer.stop_after = 2;
  t.run();
  EXPECT_EQ(t.steps(), 2);
  EXPECT_EQ(t.end, Trainer::End::interrupted);
  EXPECT_EQ(read_train_state(t.folder / "checkpoint", SmallTraining::kFingerprint).step, 2);
}

}  // namespace
}  // namespace fovea
