// The warm-up fits the limits of a training when it is asked to.
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::SmallTraining;

SmallTraining& with_share(SmallTraining& t, double share) {
  t.options.schedule = {.kind = ScheduleKind::constant, .warmup = 1000};
  t.options.warmup_share = share;
  return t;
}

TEST(Warmup, IsTheSchedulesOwnUnlessAShareIsGiven) {
  SmallTraining t;
  with_share(t, 0).run();
  EXPECT_EQ(t.observer.states.back().warmup, 1000);
  EXPECT_NEAR(t.observer.reports[3].rate, 1e-2 * 4 / 1000, 1e-12);
}

TEST(Warmup, TakesItsShareOfTheStepsOfTheFirstLimit) {
  SmallTraining steps;
  steps.options.max_steps = 20;
  with_share(steps, 0.25).run();
  EXPECT_EQ(steps.observer.states.back().warmup, 5);
  EXPECT_NEAR(steps.observer.reports[1].rate, 1e-2 * 2 / 5, 1e-12);
  EXPECT_NEAR(steps.observer.reports[4].rate, 1e-2, 1e-12);
  SmallTraining epochs;  // of 4 batches
  epochs.options.max_steps = 200;
  epochs.options.max_epochs = 2;
  epochs.options.accumulate = 2;
  with_share(epochs, 0.5).run();
  EXPECT_EQ(epochs.observer.states.back().warmup, 2);
}

TEST(Warmup, IsNeverLengthened) {
  SmallTraining t;
  t.options.max_steps = 20;
  with_share(t, 1);
  t.options.schedule.warmup = 3;
  t.run();
  EXPECT_EQ(t.observer.states.back().warmup, 3);
}

TEST(Warmup, FollowsThePaceOfTheFirstStepsWhenTimeIsTheLimit) {
  constexpr double kSeconds = 0.5;
  SmallTraining t;
  t.options.max_steps = 0;
  t.options.max_minutes = kSeconds / 60;
  t.options.schedule.warmup = 1 << 20;
  with_share(t, 0.3);
  t.options.schedule.warmup = 1 << 30;
  t.run();
  ASSERT_GT(t.steps(), 11);
  EXPECT_EQ(t.observer.states[9].warmup, 1 << 30);
  const double pace = t.observer.states[9].seconds / 10;
  const double expected = 0.3 * kSeconds / pace;
  EXPECT_NEAR(static_cast<double>(t.observer.states[10].warmup), expected, 1 + 0.05 * expected);
  EXPECT_EQ(t.observer.states.back().warmup, t.observer.states[10].warmup) << "it is chosen once";
}

TEST(Warmup, ATrainingThatGoesOnKeepsIt) {
  SmallTraining whole;
  whole.options.max_steps = 20;
  with_share(whole, 0.5).run();
  SmallTraining parts;
  parts.options.max_steps = 20;
  parts.observer.stop_after = 6;
  with_share(parts, 0.5).run();
  EXPECT_EQ(parts.end, Trainer::End::interrupted);
  parts.observer.stop_after = -1;
  parts.options.max_steps = 24;
  parts.run(true);
  EXPECT_EQ(parts.observer.states.back().warmup, 10);
  EXPECT_EQ(parts.observer.reports[6].rate, whole.observer.reports[6].rate);
}

TEST(Warmup, ASharesRangeIsChecked) {
  for (const double share : {-0.1, 1.1}) {
    SmallTraining t;
    EXPECT_THROW(with_share(t, share).run(), UsageError);
  }
}

}  // namespace
}  // namespace fovea
