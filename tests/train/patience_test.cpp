// What follows from validations that do not improve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::SmallTraining;
using testing::ElementsAre;

// Validates every second step and gives the scores in turn, the last one for good.
void validate_with(SmallTraining& t, std::vector<double> scores) {
  t.options.max_steps = 60;
  t.options.checkpoint_every = 2;
  t.score = [scores](std::int64_t i) { return scores[std::min(static_cast<std::size_t>(i), scores.size() - 1)]; };
}

TEST(Patience, EndsAfterExactlySoManyValidationsWithoutImprovement) {
  for (const int patience : {1, 2, 3}) {
    SmallTraining t;
    validate_with(t, {1, 0});
    t.options.patience = patience;
    t.run();
    EXPECT_EQ(t.end, Trainer::End::patience);
    EXPECT_EQ(t.steps(), 2 + 2 * patience);
    EXPECT_EQ(static_cast<int>(t.validated.size()), 1 + patience);
  }
}

TEST(Patience, AnImprovementStartsTheCountAnew) {
  SmallTraining t;
  validate_with(t, {1, 0, 0, 2, 0, 0, 3, 0});
  t.options.patience = 3;
  t.run();
  EXPECT_EQ(t.end, Trainer::End::patience);
  EXPECT_EQ(t.validated.size(), 10U);
  EXPECT_THAT(t.observer.was_best, ElementsAre(true, false, false, true, false, false, true, false, false, false));
}

TEST(Patience, AnEqualScoreIsNoImprovement) {
  SmallTraining t;
  validate_with(t, {1});
  t.options.patience = 2;
  EXPECT_EQ(t.run().validated.size(), 3U);
}

TEST(Patience, AScoreThatIsNoNumberIsNoImprovement) {
  SmallTraining t;
  validate_with(t, {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()});
  t.options.patience = 2;
  t.run();
  EXPECT_THAT(t.observer.was_best, ElementsAre(false, false));
  EXPECT_TRUE(t.saved.empty());
}

TEST(Patience, WithoutItTrainingGoesOn) {
  SmallTraining t;
  validate_with(t, {1, 0});
  EXPECT_EQ(t.run().steps(), 60);
  EXPECT_EQ(t.end, Trainer::End::limit);
}

TEST(Patience, OnlyTheBestIsSavedAndItIsWhatWasValidated) {
  SmallTraining t;
  validate_with(t, {1, 0, 2, 1, 0});
  t.options.max_steps = 10;
  t.run();
  ASSERT_EQ(t.saved.size(), 2U);
  EXPECT_EQ(t.saved[0], t.validated[0]);
  EXPECT_EQ(t.saved[1], t.validated[2]);
  EXPECT_NE(t.validated[0], t.validated[2]);
}

TEST(Plateau, TheRateIsHalvedAfterEachValidationWithoutImprovement) {
  SmallTraining t;
  validate_with(t, {1, 0, 2, 1, 1});
  t.options.max_steps = 12;
  t.options.schedule.kind = ScheduleKind::plateau;
  t.options.adam.rate = 0.01;
  t.run();
  std::vector<double> rates;
  for (const TrainReport& r : t.observer.reports) rates.push_back(r.rate * 100);
  EXPECT_THAT(rates, ElementsAre(1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125));
}

TEST(Plateau, OtherSchedulesAreNotHalved) {
  SmallTraining t;
  validate_with(t, {1, 0});
  t.options.max_steps = 8;
  t.run();
  for (const TrainReport& r : t.observer.reports) EXPECT_EQ(r.rate, 1e-2);
}

}  // namespace
}  // namespace fovea
