// A training of seconds whose every step, report and validation is kept for the test to read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/train/trainer.hpp"
#include "support/copy_task.hpp"
#include "support/scratch.hpp"
#include "tasks/pair_learner.hpp"
#include "train/checkpoint.hpp"

namespace fovea::test {

/// Epochs of `count / size` batches of `size` neighbours; keeps which were asked for.
class PlainPlan final : public BatchPlan {
 public:
  PlainPlan(std::int64_t pairs, std::int64_t of_a_batch) : count(pairs), size(of_a_batch) {}
  std::int64_t batches(std::int64_t) override { return count / size; }
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) override {
    asked.emplace_back(epoch, index);
    pairs.clear();
    for (std::int64_t i = 0; i < size; ++i) pairs.push_back(index * size + i);
  }

  std::int64_t count, size;
  std::vector<std::pair<std::int64_t, std::int64_t>> asked;  // epoch and batch
};

class RecordingObserver final : public TrainObserver {
 public:
  void reported(const TrainReport& report) override { reports.push_back(report); }
  void validated(const TrainState& state, const Validation&, bool best) override {
    validated_at.push_back(state.step);
    was_best.push_back(best);
  }
  void stepped(const TrainState& state, double progress) override {
    states.push_back(state);
    progresses.push_back(progress);
  }
  /// True after `stop_after` steps.
  [[nodiscard]] StopRequest stop() {
    return [this] { return static_cast<std::int64_t>(states.size()) == stop_after; };
  }

  std::int64_t stop_after = -1;
  std::vector<TrainReport> reports;
  std::vector<std::int64_t> validated_at;
  std::vector<bool> was_best;
  std::vector<TrainState> states;  // after each step
  std::vector<double> progresses;
};

using Weights = std::vector<std::vector<float>>;  // of every entry, in order

inline Weights copied(std::span<const Tensor> tensors) {
  Weights out;
  for (const Tensor& t : tensors) out.emplace_back(t.values().begin(), t.values().end());
  return out;
}

/// One training: set the options, run(), read what happened.
struct SmallTraining {
  static constexpr const char* kFingerprint = R"({"test":true})";

  ModelConfig config;
  TrainOptions options;
  BackwardsTask task{40, 6, 5, 11};
  PlainPlan plan{40, 10};
  RecordingObserver observer;
  Parameters parameters{1};
  std::function<double(std::int64_t validation)> score = [](std::int64_t) { return 0.0; };  // counted from 0
  std::vector<Weights> validated;  // what each validation was given
  std::vector<Weights> saved;      // what was saved as the best
  Trainer::End end = Trainer::End::interrupted;
  Scratch folder;

  SmallTraining() {
    const TransformerConfig part{.layers = 1, .dim = 8, .ffn = 8, .heads = 2};
    config.encoder = part;
    config.generator().decoder = part;
    config.tokens().embedding = config.generator().embedding = part.dim;
    config.tokens().vocabulary = config.generator().vocabulary = 10;
    options.adam.rate = 1e-2;
    options.schedule = {.kind = ScheduleKind::constant, .warmup = 1};
    options.dropout = 0;
    options.loss.label_smoothing = 0;
    options.replicas = 1;
    options.max_steps = 4;
    options.report_every = 1;
    options.checkpoint_every = 1000;
  }

  /// Makes the weights, so that a test can change them before it runs.
  void build() { const Seq2Seq made(config, parameters); }
  /// The values of the weight of this name.
  std::span<float> weight(const std::string& name) {
    const Var* found = parameters.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found != nullptr ? found->value().values() : std::span<float>();
  }
  /// Sets every weight whose name ends so to zero.
  void silence(const std::string& ending) {
    int found = 0;
    for (const auto& entry : parameters.entries()) {
      if (!entry.name.ends_with(ending)) continue;
      std::fill(entry.weight.value().values().begin(), entry.weight.value().values().end(), 0.0F);
      ++found;
    }
    EXPECT_GT(found, 0) << ending;
  }
  [[nodiscard]] Weights now() const {
    std::vector<Tensor> tensors;
    for (const auto& entry : parameters.entries()) tensors.push_back(entry.weight.value());
    return copied(tensors);
  }

  SmallTraining& run(bool resume = false) {
    build();
    const LearnerFactory learners = pair_learners(config, task);
    const PairExamples examples(task);
    end = Trainer({.parameters = parameters,
                   .make_learner = learners,
                   .options = options,
                   .examples = examples,
                   .plan = plan,
                   .observer = observer,
                   .checkpoint_file = folder / "checkpoint",
                   .fingerprint = kFingerprint,
                   .validate =
                       [this](std::span<const Tensor> weights, const TrainState&) {
                         validated.push_back(copied(weights));
                         const double found = score(static_cast<std::int64_t>(validated.size()) - 1);
                         return Validation{.score = found, .loss = 1, .text = ""};
                       },
                   .save_best = [this](std::span<const Tensor> weights) { saved.push_back(copied(weights)); },
                   .stop = observer.stop(),
                   .resume = resume})
              .run()
              .end;
    return *this;
  }
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(observer.states.size()); }
};

inline void expect_near(const Weights& a, const Weights& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (std::size_t k = 0; k < a[i].size(); ++k) ASSERT_NEAR(a[i][k], b[i][k], tolerance) << i << ", " << k;
  }
}

}  // namespace fovea::test
