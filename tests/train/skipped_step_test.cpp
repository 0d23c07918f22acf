// Steps whose loss or gradient is not a number.
#include <gmock/gmock.h>

#include <limits>

#include "fovea/error.hpp"
#include "support/trainer_fixture.hpp"

namespace fovea {
namespace {

using test::SmallTraining;
using testing::HasSubstr;

// Its learner's loss is infinite in these calls, counted from 0.
class Faulty final : public Learner {
 public:
  Faulty(std::unique_ptr<Learner> sound, std::function<bool(int)> faulty)
      : sound_(std::move(sound)), faulty_(std::move(faulty)) {}
  BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) override {
    BatchLoss cost = sound_->loss(examples, how, pass);
    if (faulty_(calls_++)) cost.loss = scale(cost.loss, std::numeric_limits<float>::infinity());
    return cost;
  }

 private:
  std::unique_ptr<Learner> sound_;
  std::function<bool(int)> faulty_;
  int calls_ = 0;
};

void run(SmallTraining& t, const std::function<bool(int)>& faulty, bool resume = false) {
  t.build();
  const LearnerFactory sound = pair_learners(t.config, t.task);
  const LearnerFactory learners = [&](Parameters& p) { return std::make_unique<Faulty>(sound(p), faulty); };
  const PairExamples examples(t.task);
  Trainer trainer({.parameters = t.parameters,
                   .make_learner = learners,
                   .options = t.options,
                   .examples = examples,
                   .plan = t.plan,
                   .observer = t.observer,
                   .checkpoint_file = t.folder / "checkpoint",
                   .fingerprint = SmallTraining::kFingerprint,
                   .validate = [](std::span<const Tensor>, const TrainState&) { return Validation{}; },
                   .save_best = [](std::span<const Tensor>) {},
                   .stop = t.observer.stop(),
                   .resume = resume});
  t.end = trainer.run().end;
}

TEST(SkippedStep, LeavesTheWeightsAndIsCounted) {
  SmallTraining t;
  t.options.max_steps = 1;
  t.build();
  const auto before = t.now();
  run(t, [](int call) { return call == 0; });
  EXPECT_EQ(t.now(), before);
  EXPECT_EQ(t.observer.states[0].skipped, 1);
  EXPECT_EQ(t.observer.states[0].step, 1);
}

TEST(SkippedStep, TrainingGoesOnAfterIt) {
  SmallTraining t;
  t.options.max_steps = 12;
  run(t, [](int call) { return call == 2 || call == 3; });
  EXPECT_EQ(t.observer.states.back().skipped, 2);
  for (const auto& values : t.now()) {
    for (const float v : values) EXPECT_TRUE(std::isfinite(v));
  }
  EXPECT_LT(t.observer.reports.back().loss, t.observer.reports.front().loss);
}

TEST(SkippedStep, FiveInARowEndTheTrainingAndNameWhere) {
  SmallTraining t;
  t.options.max_steps = 40;
  try {
    run(t, [](int call) { return call >= 7; });
    FAIL() << "trained on with infinite losses";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("step 12:"));
    EXPECT_THAT(error.what(), HasSubstr("epoch 3, batch 3"));
    EXPECT_THAT(error.what(), HasSubstr("the gradient of"));
  }
}

TEST(SkippedStep, AlternatingOnesDoNotEndIt) {
  SmallTraining t;
  t.options.max_steps = 20;
  run(t, [](int call) { return call % 2 == 1; });
  EXPECT_EQ(t.observer.states.back().skipped, 10);
}

TEST(SkippedStep, AResumedTrainingGivesTheSameBytes) {
  const auto faulty = [](int call) { return call == 1; };
  SmallTraining whole;
  whole.options.max_steps = 8;
  run(whole, faulty);
  SmallTraining parts;
  parts.options.max_steps = 4;
  run(parts, faulty);
  parts.options.max_steps = 8;
  parts.parameters = Parameters(1);
  run(
      parts, [](int) { return false; }, true);
  EXPECT_EQ(parts.now(), whole.now());
}

// A signal is handled between the batches of a step; the gradients gathered so far are dropped.
TEST(Accumulate, AStopBetweenBatchesLeavesTheLastWholeStep) {
  int asked = 0;
  SmallTraining t;
  t.options.accumulate = 4;
  t.options.max_steps = 100;
  t.build();
  const LearnerFactory learners = pair_learners(t.config, t.task);
  const PairExamples examples(t.task);
  Trainer trainer({.parameters = t.parameters,
                   .make_learner = learners,
                   .options = t.options,
                   .examples = examples,
                   .plan = t.plan,
                   .observer = t.observer,
                   .checkpoint_file = t.folder / "checkpoint",
                   .fingerprint = SmallTraining::kFingerprint,
                   .validate = [](std::span<const Tensor>, const TrainState&) { return Validation{}; },
                   .save_best = [](std::span<const Tensor>) {},
                   .stop = [&] { return ++asked >= 6; },
                   .resume = false});
  EXPECT_EQ(trainer.run().end, Trainer::End::interrupted);
  EXPECT_EQ(read_train_state(t.folder / "checkpoint", SmallTraining::kFingerprint).step, 1);

  SmallTraining one;
  one.options.accumulate = 4;
  one.options.max_steps = 1;
  one.run();
  EXPECT_EQ(t.now(), one.now());
}

}  // namespace
}  // namespace fovea
