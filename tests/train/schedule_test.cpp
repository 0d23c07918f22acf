#include "fovea/train/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace fovea {
namespace {

constexpr ScheduleKind kKinds[] = {ScheduleKind::inverse_sqrt, ScheduleKind::cosine, ScheduleKind::linear,
                                   ScheduleKind::plateau, ScheduleKind::constant};

TEST(Schedule, EveryKindRisesLinearlyOverTheWarmUp) {
  for (const ScheduleKind kind : kKinds) {
    const Schedule schedule{.kind = kind, .peak = 0.5, .warmup = 100, .last_step = 1000};
    for (const std::int64_t step : {1, 2, 37, 99, 100}) {
      EXPECT_NEAR(schedule.rate(step, 0), 0.5 * static_cast<double>(step) / 100, 1e-12) << step;
    }
  }
}

TEST(Schedule, WithoutAWarmUpTheFirstStepHasThePeak) {
  for (const ScheduleKind kind : kKinds) {
    EXPECT_NEAR((Schedule{.kind = kind, .peak = 0.5, .warmup = 0, .last_step = 1000}.rate(1, 0)), 0.5, 1e-12);
  }
}

TEST(Schedule, InverseSqrtFallsWithTheRootOfTheStep) {
  const Schedule schedule{.kind = ScheduleKind::inverse_sqrt, .peak = 0.5, .warmup = 100};
  EXPECT_NEAR(schedule.rate(101, 0), 0.5 * std::sqrt(100.0 / 101), 1e-12);
  EXPECT_NEAR(schedule.rate(400, 0), 0.25, 1e-12);
  EXPECT_NEAR(schedule.rate(10000, 0), 0.05, 1e-12);
}

TEST(Schedule, CosineFallsAlongHalfACosineToZero) {
  const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 0.5, .warmup = 100, .last_step = 1100};
  EXPECT_NEAR(schedule.rate(350, 0), 0.25 * (1 + std::cos(std::numbers::pi / 4)), 1e-12);
  EXPECT_NEAR(schedule.rate(600, 0), 0.25, 1e-12);
  EXPECT_NEAR(schedule.rate(850, 0), 0.25 * (1 - std::cos(std::numbers::pi / 4)), 1e-12);
  EXPECT_NEAR(schedule.rate(1100, 0), 0, 1e-12);
  EXPECT_NEAR(schedule.rate(2000, 0), 0, 1e-12);  // it does not rise again
}

TEST(Schedule, LinearFallsAlongALineToZero) {
  const Schedule schedule{.kind = ScheduleKind::linear, .peak = 0.5, .warmup = 100, .last_step = 1100};
  EXPECT_NEAR(schedule.rate(350, 0), 0.375, 1e-12);
  EXPECT_NEAR(schedule.rate(1000, 0), 0.05, 1e-12);
  EXPECT_NEAR(schedule.rate(1100, 0), 0, 1e-12);
  EXPECT_NEAR(schedule.rate(2000, 0), 0, 1e-12);  // and never below
}

TEST(Schedule, PlateauIsHalvedEachTimeAndStaysOtherwise) {
  const Schedule schedule{.kind = ScheduleKind::plateau, .peak = 0.5, .warmup = 100};
  for (const std::int64_t step : {100, 1000, 50000}) {
    EXPECT_NEAR(schedule.rate(step, 0), 0.5, 1e-12);
    EXPECT_NEAR(schedule.rate(step, 1), 0.25, 1e-12);
    EXPECT_NEAR(schedule.rate(step, 3), 0.0625, 1e-12);
  }
  EXPECT_NEAR(schedule.rate(50, 1), 0.125, 1e-12);
}

TEST(Schedule, OnlyPlateauKnowsOfHalvings) {
  for (const ScheduleKind kind : kKinds) {
    if (kind == ScheduleKind::plateau) continue;
    const Schedule schedule{.kind = kind, .peak = 0.5, .warmup = 100, .last_step = 1100};
    EXPECT_EQ(schedule.rate(600, 4), schedule.rate(600, 0));
  }
}

TEST(Schedule, ConstantStays) {
  const Schedule schedule{.kind = ScheduleKind::constant, .peak = 0.5, .warmup = 100};
  EXPECT_EQ(schedule.rate(101, 0), 0.5);
  EXPECT_EQ(schedule.rate(1'000'000, 0), 0.5);
}

}  // namespace
}  // namespace fovea
