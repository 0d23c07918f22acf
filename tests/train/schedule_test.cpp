#include "fovea/train/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace fovea {
namespace {

// Of a largest rate of 0.5 and, unless it is given, a last step of 1100.
double rate(const Schedule& schedule, std::int64_t step, int halvings = 0, std::int64_t last_step = 1100) {
  return 0.5 * schedule.share(step, last_step, halvings);
}

constexpr ScheduleKind kKinds[] = {ScheduleKind::inverse_sqrt, ScheduleKind::cosine, ScheduleKind::linear,
                                   ScheduleKind::plateau, ScheduleKind::constant};

TEST(Schedule, EveryKindRisesLinearlyOverTheWarmUp) {
  for (const ScheduleKind kind : kKinds) {
    const Schedule schedule{.kind = kind, .warmup = 100};
    for (const std::int64_t step : {1, 2, 37, 99, 100}) {
      EXPECT_NEAR(rate(schedule, step), 0.5 * static_cast<double>(step) / 100, 1e-12) << step;
    }
  }
}

TEST(Schedule, WithoutAWarmUpTheFirstStepHasThePeak) {
  for (const ScheduleKind kind : kKinds) {
    EXPECT_NEAR(rate({.kind = kind, .warmup = 0}, 1), 0.5, 1e-12);
  }
}

TEST(Schedule, InverseSqrtFallsWithTheRootOfTheStep) {
  const Schedule schedule{.kind = ScheduleKind::inverse_sqrt, .warmup = 100};
  EXPECT_NEAR(rate(schedule, 101), 0.5 * std::sqrt(100.0 / 101), 1e-12);
  EXPECT_NEAR(rate(schedule, 400), 0.25, 1e-12);
  EXPECT_NEAR(rate(schedule, 10000), 0.05, 1e-12);
}

TEST(Schedule, CosineFallsAlongHalfACosineToZero) {
  const Schedule schedule{.kind = ScheduleKind::cosine, .warmup = 100};
  EXPECT_NEAR(rate(schedule, 350), 0.25 * (1 + std::cos(std::numbers::pi / 4)), 1e-12);
  EXPECT_NEAR(rate(schedule, 600), 0.25, 1e-12);
  EXPECT_NEAR(rate(schedule, 850), 0.25 * (1 - std::cos(std::numbers::pi / 4)), 1e-12);
  EXPECT_NEAR(rate(schedule, 1100), 0, 1e-12);
  EXPECT_NEAR(rate(schedule, 2000), 0, 1e-12);  // it does not rise again
}

TEST(Schedule, LinearFallsAlongALineToZero) {
  const Schedule schedule{.kind = ScheduleKind::linear, .warmup = 100};
  EXPECT_NEAR(rate(schedule, 350), 0.375, 1e-12);
  EXPECT_NEAR(rate(schedule, 1000), 0.05, 1e-12);
  EXPECT_NEAR(rate(schedule, 1100), 0, 1e-12);
  EXPECT_NEAR(rate(schedule, 2000), 0, 1e-12);  // and never below
}

TEST(Schedule, PlateauIsHalvedEachTimeAndStaysOtherwise) {
  const Schedule schedule{.kind = ScheduleKind::plateau, .warmup = 100};
  for (const std::int64_t step : {100, 1000, 50000}) {
    EXPECT_NEAR(rate(schedule, step), 0.5, 1e-12);
    EXPECT_NEAR(rate(schedule, step, 1), 0.25, 1e-12);
    EXPECT_NEAR(rate(schedule, step, 3), 0.0625, 1e-12);
  }
  EXPECT_NEAR(rate(schedule, 50, 1), 0.125, 1e-12);
}

TEST(Schedule, OnlyPlateauKnowsOfHalvings) {
  for (const ScheduleKind kind : kKinds) {
    if (kind == ScheduleKind::plateau) continue;
    const Schedule schedule{.kind = kind, .warmup = 100};
    EXPECT_EQ(rate(schedule, 600, 4), rate(schedule, 600));
  }
}

TEST(Schedule, ConstantStays) {
  const Schedule schedule{.kind = ScheduleKind::constant, .warmup = 100};
  EXPECT_EQ(rate(schedule, 101), 0.5);
  EXPECT_EQ(rate(schedule, 1'000'000), 0.5);
}

}  // namespace
}  // namespace fovea
