// The trainer knows nothing of sentences: here it trains a linear classifier of points.
#include "fovea/train/learner.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/nn/linear.hpp"
#include "fovea/ops.hpp"
#include "support/trainer_fixture.hpp"
#include "train/workers.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kClasses = 4;  // 1, 2 and 3 occur; to the loss 0 is padding

// Points around three corners, each with the number of its corner.
struct Points final : Examples {
  Points() {
    Rng rng(5);
    constexpr float corners[3][2] = {{2, 0}, {-2, 2}, {-2, -2}};
    for (std::int32_t i = 0; i < 60; ++i) {
      for (const float c : corners[i % 3]) values.push_back(c + 0.3F * static_cast<float>(rng.normal()));
      labels.push_back(1 + i % 3);
    }
  }
  [[nodiscard]] ExampleSize size(std::int64_t) const override { return {.input = 2, .output = 1}; }

  std::vector<float> values;
  std::vector<std::int32_t> labels;
};

class Classifier final : public Learner {
 public:
  Classifier(const Points& points, Parameters& p)
      : points_(points),
        weight_(p.matrix("weight", {kClasses, 2}, Init::xavier, MatrixLayout::out_in)),
        bias_(p.get("bias", {kClasses}, Init::zeros)) {}

  BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass&) override {
    wanted_.clear();
    const Tensor x = Tensor::empty({static_cast<std::int64_t>(examples.size()), 2});
    for (std::size_t r = 0; r < examples.size(); ++r) {
      const auto i = static_cast<std::size_t>(examples[r]);
      std::copy_n(points_.values.data() + 2 * i, 2, x.data() + 2 * r);
      wanted_.push_back(points_.labels[i]);
    }
    const CrossEntropy cost =
        linear_cross_entropy(x, weight_.var, bias_, wanted_, {.label_smoothing = how.label_smoothing});
    return {cost.loss, cost.tokens, cost.nll, cost.correct};
  }

 private:
  const Points& points_;
  Weight weight_;
  Var bias_;
  std::vector<std::int32_t> wanted_;
};

struct Training {
  Points points;
  LearnerFactory learners = [this](Parameters& p) { return std::make_unique<Classifier>(points, p); };
  Parameters parameters{1};
  TrainOptions options;
  test::PlainPlan plan{60, 15};
  test::RecordingObserver observer;
  test::Scratch folder;
  test::Weights saved;

  Training() {
    options.adam.rate = 0.05;
    options.schedule = {.kind = ScheduleKind::constant, .warmup = 1};
    options.loss.label_smoothing = 0;
    options.max_steps = 100;
    options.report_every = 10;
    options.checkpoint_every = 50;
    options.micro_tokens = 4;
    options.replicas = 2;
  }
  test::Weights run(bool resume = false) {
    (void)Trainer({.parameters = parameters,
                   .make_learner = learners,
                   .options = options,
                   .examples = points,
                   .plan = plan,
                   .observer = observer,
                   .checkpoint_file = folder / "checkpoint",
                   .fingerprint = R"({"points":1})",
                   .validate =
                       [](std::span<const Tensor> weights, const TrainState& state) {
                         EXPECT_EQ(weights.size(), 2U);
                         return Validation{.score = static_cast<double>(state.step), .loss = 0, .text = ""};
                       },
                   .save_best = [this](std::span<const Tensor> weights) { saved = test::copied(weights); },
                   .stop = observer.stop(),
                   .resume = resume})
        .run();
    test::Weights now;
    for (const auto& e : parameters.entries()) {
      now.emplace_back(e.weight.value().values().begin(), e.weight.value().values().end());
    }
    return now;
  }
};

TEST(Learner, ATrainerTrainsWhateverGivesALoss) {
  Training t;
  const test::Weights now = t.run();
  EXPECT_EQ(t.observer.states.back().tokens, 1500);  // an output each
  EXPECT_EQ(t.observer.reports.back().accuracy, 1);
  EXPECT_LT(t.observer.reports.back().loss, 0.3 * t.observer.reports.front().loss);
  EXPECT_EQ(t.saved, now);
  EXPECT_EQ(t.parameters.entries().size(), 2U);
}

TEST(Learner, AnInterruptedTrainingEndsWithTheSameBytes) {
  Training whole;
  const test::Weights uninterrupted = whole.run();
  Training cut;
  cut.observer.stop_after = 33;
  EXPECT_NE(cut.run(), uninterrupted);
  cut.parameters = Parameters(1);
  EXPECT_EQ(cut.run(true), uninterrupted);
}

TEST(Learner, WorkersSumWhatTheirLearnersGive) {
  const Points points;
  const LearnerFactory learners = [&points](Parameters& p) { return std::make_unique<Classifier>(points, p); };
  std::vector<std::int64_t> all(60);
  std::iota(all.begin(), all.end(), 0);
  Parameters alone(1);
  Classifier one(points, alone);
  Pass pass;
  const BatchLoss cost = one.loss(all, {}, pass);
  backward(cost.loss);
  for (const int count : {1, 3}) {
    Parameters p(1);
    Workers workers(learners, p, count, processes());
    const BatchTotals totals = workers.run(points, all, 4, {}, {}, 1);
    EXPECT_EQ(totals.outputs, 60);
    EXPECT_EQ(totals.correct, cost.correct);
    EXPECT_NEAR(totals.nll, cost.nll, 1e-3);
    for (std::size_t e = 0; e < 2; ++e) {
      const Tensor a = alone.entries()[e].weight.grad();
      const Tensor b = p.entries()[e].weight.grad();
      for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.data()[i], b.data()[i], 1e-3);
    }
  }
}

}  // namespace
}  // namespace fovea
