#include "fovea/train/trainer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/threads.hpp"
#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"
#include "train/checkpoint.hpp"
#include "train/workers.hpp"

namespace fovea {
namespace {

constexpr const char* kFingerprint = R"({"test":true})";

class Quiet final : public TrainObserver {
 public:
  void reported(const TrainReport& r) override { losses.push_back(r.loss); }
  void validated(const TrainState&, const Validation&, bool) override {}
  void stepped(const TrainState& state, double) override { step = state.step; }
  std::vector<double> losses;
  std::int64_t step = 0;
  std::int64_t stop_at = -1;
};

class EveryTenth final : public BatchPlan {
 public:
  explicit EveryTenth(std::int64_t count) : count_(count) {}
  std::int64_t batches(std::int64_t) override { return count_ / 10; }
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) override {
    pairs.clear();
    for (std::int64_t i = 0; i < 10; ++i) pairs.push_back((index * 10 + i + epoch * 7) % count_);
  }

 private:
  std::int64_t count_;
};

struct Fixture {
  ModelConfig config;
  TrainOptions options;
  test::BackwardsTask task{200, 6, 5, 11};
  EveryTenth plan{200};
  std::function<double(std::int64_t)> score;  // of a step; without it, of its weights
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("fovea_trainer_test_" + std::to_string(::getpid()) + ".safetensors");

  Fixture() {
    const TransformerConfig part{.layers = 1, .dim = 16, .ffn = 32, .heads = 2};
    use(part, part);
    config.tokens().vocabulary = config.generator().vocabulary = 10;
    options.adam.rate = 3e-3;
    options.schedule = {.kind = ScheduleKind::constant, .warmup = 5};
    options.checkpoint_every = 20;
    options.report_every = 10;
    options.micro_tokens = 16;
    options.dropout = 0.1F;
  }
  ~Fixture() { std::filesystem::remove(file); }

  void use(const EncoderConfig& encoder, const DecoderConfig& decoder) {
    config.encoder = encoder;
    config.generator().decoder = decoder;
    config.tokens().embedding = config.generator().embedding = 16;
  }

  std::vector<float> run(std::int64_t steps, bool resume, Quiet& observer) {
    options.max_steps = steps;
    Parameters p(1);
    const LearnerFactory learners = pair_learners(config, task);
    const PairExamples examples(task);
    const auto validate = [&](std::span<const Tensor> weights, const TrainState& state) {
      if (score) return Validation{.score = score(state.step), .loss = 1, .text = ""};
      // The embedding of a token that is used: it moves up and down.
      return Validation{.score = -std::abs(weights[0].data()[6 * 16 + 3]), .loss = 1, .text = ""};
    };
    (void)Trainer({.parameters = p,
                   .make_learner = learners,
                   .options = options,
                   .examples = examples,
                   .plan = plan,
                   .observer = observer,
                   .checkpoint_file = file,
                   .fingerprint = kFingerprint,
                   .validate = validate,
                   .save_best = [](std::span<const Tensor>) {},
                   .stop = [&] { return observer.step == observer.stop_at; },
                   .resume = resume})
        .run();
    std::vector<float> all;
    for (const auto& e : p.entries())
      all.insert(all.end(), e.weight.value().values().begin(), e.weight.value().values().end());
    return all;
  }
};

TEST(Trainer, TheLossFalls) {
  Fixture s;
  Quiet observer;
  s.run(120, false, observer);
  EXPECT_LT(observer.losses.back(), 0.8 * observer.losses.front());
}

TEST(Trainer, ResumingGivesTheSameBytesAsNeverHavingStopped) {
  for (const int average : {1, 3}) {
    Fixture s;
    s.options.average = average;
    if (average == 1) s.options.adam.ema = 0.9F;
    Quiet whole;
    const auto uninterrupted = s.run(60, false, whole);
    std::filesystem::remove(s.file);
    Quiet cut;
    cut.stop_at = 33;  // between two checkpoints
    s.run(60, false, cut);
    EXPECT_EQ(cut.step, 33);
    Quiet rest;
    EXPECT_EQ(s.run(60, true, rest), uninterrupted);
  }
}

TEST(Trainer, GoingOnPastALimitGivesTheSameBytesAsNeverHavingHadIt) {
  Fixture s;
  s.options.average = 3;
  s.options.schedule.kind = ScheduleKind::plateau;
  Quiet whole;
  const auto uninterrupted = s.run(60, false, whole);
  std::filesystem::remove(s.file);
  Quiet first;
  s.run(33, false, first);  // not at a checkpoint
  Quiet rest;
  EXPECT_EQ(s.run(60, true, rest), uninterrupted);
}

// What ends it is validated once more than the schedule says; what goes on must not be measured by that.
TEST(Trainer, AGoodEndIsNoReasonToBeDisappointedAfterIt) {
  Fixture s;
  s.score = [](std::int64_t step) { return step == 33 ? 1000.0 : static_cast<double>(step); };
  s.options.schedule.kind = ScheduleKind::plateau;
  Quiet whole;
  const auto uninterrupted = s.run(60, false, whole);
  std::filesystem::remove(s.file);
  Quiet first;
  s.run(33, false, first);
  Quiet rest;
  EXPECT_EQ(s.run(60, true, rest), uninterrupted);
}

TEST(Trainer, OutOfPatienceItStaysSo) {
  Fixture s;
  s.options.patience = 1;
  Quiet once;
  const auto ended = s.run(2000, false, once);
  ASSERT_LT(once.step, 2000);
  Quiet again;
  EXPECT_EQ(s.run(2000, true, again), ended);
  EXPECT_EQ(again.step, 0);
}

TEST(Trainer, ALossThatIsNoNumberIsAnError) {
  Fixture s;
  s.options.adam.rate = 1e30;
  s.options.adam.clip = 0;
  Quiet observer;
  EXPECT_THROW(s.run(60, false, observer), Error);
}

// Without dropout the two copies of a batch agree, so R-Drop costs nothing and everything counts twice; with dropout
// they do not, and training pulls them together.
TEST(Trainer, RDropCostsWhatDropoutChanges) {
  Fixture f;
  const auto cost = [&f](float dropout, float r_drop) {
    Parameters p(1);
    const LearnerFactory learners = pair_learners(f.config, f.task);
    Workers workers(learners, p, 1, processes());
    std::vector<std::int64_t> batch{0, 1, 2, 3, 4, 5};
    return workers.run(PairExamples(f.task), batch, 64, dropout, {.label_smoothing = 0.1F, .r_drop = r_drop}, 1);
  };
  const BatchTotals plain = cost(0.0F, 0.0F);
  const BatchTotals twice = cost(0.0F, 5.0F);
  EXPECT_EQ(twice.outputs, 2 * plain.outputs);
  EXPECT_NEAR(twice.loss, 2 * plain.loss, 1e-5 * twice.loss);
  EXPECT_NEAR(twice.nll, 2 * plain.nll, 1e-5 * twice.nll);
  const BatchTotals weak = cost(0.3F, 1e-6F);
  const BatchTotals strong = cost(0.3F, 5.0F);
  EXPECT_NEAR(weak.nll, strong.nll, 1e-5 * weak.nll);
  EXPECT_GT(strong.loss, weak.loss + 0.01 * static_cast<double>(weak.outputs));
}

TEST(Trainer, RDropResumesExactly) {
  Fixture f;
  f.options.loss.r_drop = 3;
  Quiet observer;
  const auto whole = f.run(40, false, observer);
  EXPECT_LT(observer.losses.back(), observer.losses.front());
  std::filesystem::remove(f.file);
  Quiet stopping;
  stopping.stop_at = 23;
  (void)f.run(40, false, stopping);
  Quiet going_on;
  EXPECT_EQ(f.run(40, true, going_on), whole);
}

TEST(Checkpoint, CountsThatCannotBeAreRefused) {
  Fixture s;
  Parameters p(1);
  build_weights(s.config, p);
  for (const std::int64_t batch : {std::int64_t{-100}, std::numeric_limits<std::int64_t>::max()}) {
    Checkpoint c;
    c.state.batch = batch;
    write_checkpoint(s.file, c, p, kFingerprint);
    EXPECT_THROW((void)read_train_state(s.file, kFingerprint), FileError) << batch;
  }
}

TEST(Checkpoint, SaysInWhatItWasMadeWithSomethingElse) {
  Fixture s;
  Parameters p(1);
  build_weights(s.config, p);
  write_checkpoint(s.file, {}, p, R"({"dim":16,"seed":1,"model":{"heads":2}})");
  const auto said = [&](const char* now) -> std::string {
    try {
      (void)read_train_state(s.file, now);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said(R"({"seed":1,"dim":16,"model":{"heads":2}})"), "");
  EXPECT_NE(said(R"({"dim":16,"seed":1,"text":"00ff","model":{"heads":2}})").find("other training text"),
            std::string::npos);
  EXPECT_NE(said(R"({"dim":16,"seed":2,"model":{"heads":2}})").find("seed 1, not 2"), std::string::npos);
  EXPECT_NE(said(R"({"dim":16,"seed":1,"subword-sampling":0.1,"model":{"heads":2}})")
                .find("subword-sampling nothing, not 0.1"),
            std::string::npos);
  EXPECT_NE(said(R"({"dim":16,"model":{"heads":2}})").find("seed 1"), std::string::npos);
  EXPECT_THROW((void)read_train_state(s.file, "no JSON"), FileError);
  EXPECT_NE(said(R"({"dim":16,"seed":1,"model":{"heads":4}})").find("model.heads 2, not 4"), std::string::npos);
}

TEST(Trainer, TheSameThreadsGiveTheSameBytes) {
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    Fixture s;
    Quiet a;
    Quiet b;
    EXPECT_EQ(s.run(15, false, a), s.run(15, false, b)) << count;
  }
  set_threads(before);
}

// As many replicas give the same bytes on one thread and on several, whatever the layers.
TEST(Trainer, TheSameReplicasGiveTheSameBytesOnAnyNumberOfThreads) {
  const int before = threads();
  const TransformerConfig rotary{.layers = 1, .dim = 16, .ffn = 32, .heads = 2, .positions = Positions::rotary};
  const RnnDecoderConfig luong{
      .dim = 16, .cell = Cell::lstm, .attention = RnnAttention::general, .form = RnnForm::luong, .input_feeding = true};
  const CnnConfig cnn{.layers = 1, .dim = 16};
  const std::vector<std::pair<EncoderConfig, DecoderConfig>> models{
      {rotary, rotary},
      {RnnEncoderConfig{.dim = 16}, RnnDecoderConfig{.dim = 16}},
      {RnnEncoderConfig{.dim = 16, .cell = Cell::lstm}, luong},
      {cnn, cnn}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const int replicas : {1, 2, 3}) {
      Fixture s;
      s.use(models[i].first, models[i].second);
      s.config.generator().vocabulary = 2500;  // ten slices of the output layer
      s.options.replicas = replicas;
      Quiet observer;
      set_threads(1);
      const auto alone = s.run(12, false, observer);
      for (const int count : {2, 4}) {
        set_threads(count);
        EXPECT_EQ(s.run(12, false, observer), alone) << "model " << i << ", " << replicas << " replicas, " << count;
      }
    }
  }
  set_threads(before);
}

// Without a number of replicas there is one per thread, and gradients are summed in another order.
TEST(Trainer, ThereIsOneReplicaPerThreadByDefault) {
  const int before = threads();
  Fixture s;
  Quiet observer;
  set_threads(2);
  const auto two = s.run(12, false, observer);
  s.options.replicas = 1;
  EXPECT_NE(s.run(12, false, observer), two);
  set_threads(1);
  s.options.replicas = 2;
  EXPECT_EQ(s.run(12, false, observer), two);
  set_threads(before);
}

}  // namespace
}  // namespace fovea
