#include "tasks/pair_learner.hpp"

#include <gmock/gmock.h>

#include "support/copy_task.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;

class TwoPairs final : public text::Pairs {
 public:
  [[nodiscard]] std::int64_t size() const override { return 2; }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override { return source_[i]; }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override { return target_[i]; }

 private:
  const std::vector<std::int32_t> source_[2] = {{10, 11, 12}, {13}};
  const std::vector<std::int32_t> target_[2] = {{20}, {21, 22}};
};

ModelConfig tiny() {
  ModelConfig config;
  config.encoder = RnnEncoderConfig{.dim = 6};
  config.generator().decoder = RnnDecoderConfig{.dim = 6};
  config.tokens() = {.vocabulary = 30, .embedding = 5};
  config.generator().vocabulary = 30;
  config.generator().embedding = 5;
  return config;
}

TEST(PairBatch, RowsHoldTheirPairsBetweenTheirMarksAndPadding) {
  PairBatch batch;
  batch.fill(TwoPairs(), std::vector<std::int64_t>{0, 1});
  const Tokens source = batch.source.view();
  const Tokens target = batch.target.view();
  EXPECT_EQ(source.batch, 2);
  EXPECT_EQ(target.batch, 2);
  EXPECT_EQ(source.length, 4);
  EXPECT_EQ(target.length, 3);
  EXPECT_THAT(source.ids, ElementsAre(10, 11, 12, eos_id, 13, eos_id, pad_id, pad_id));
  EXPECT_THAT(target.ids, ElementsAre(bos_id, 20, pad_id, bos_id, 21, 22));
  EXPECT_THAT(batch.wanted.view().ids, ElementsAre(20, eos_id, pad_id, 21, 22, eos_id));
  EXPECT_THAT(source.lengths, ElementsAre(4, 2));
  EXPECT_THAT(target.lengths, ElementsAre(2, 3));
}

TEST(PairBatch, AnExampleCanComeTwice) {
  PairBatch batch;
  batch.fill(TwoPairs(), std::vector<std::int64_t>{1, 0, 1, 0});
  EXPECT_EQ(batch.source.view().batch, 4);
  EXPECT_THAT(batch.wanted.view().ids,
              ElementsAre(21, 22, eos_id, 20, eos_id, pad_id, 21, 22, eos_id, 20, eos_id, pad_id));
  EXPECT_THAT(batch.source.view().lengths, ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(batch.target.view().lengths, ElementsAre(3, 2, 3, 2));
}

TEST(PairBatch, FillingAgainReusesTheMemory) {
  const test::BackwardsTask task(50, 12, 9, 3);
  const auto all = task.all();
  PairBatch batch;
  const auto where = [&batch] {
    return std::vector{batch.source.view().ids.data(), batch.target.view().ids.data(), batch.wanted.view().ids.data()};
  };
  batch.fill(task, all);
  const auto before = where();
  batch.fill(task, std::span(all).first(20));
  batch.fill(task, all);
  EXPECT_EQ(where(), before);
}

TEST(PairExamples, AreAsLongAsTheirTokensWithTheEnd) {
  const TwoPairs pairs;
  const PairExamples examples(pairs);
  EXPECT_EQ(examples.size(0).input, 4);
  EXPECT_EQ(examples.size(0).output, 2);
  EXPECT_EQ(examples.size(1).input, 2);
  EXPECT_EQ(examples.size(1).output, 3);
}

// What each gradient was when it was said to be complete.
struct Completed final : LeafObserver {
  explicit Completed(const Parameters& all) : parameters(all), then(all.entries().size()) {
    for (std::size_t e = 0; e < then.size(); ++e) all.entries()[e].weight.set_number(static_cast<std::int32_t>(e));
  }
  void complete(std::int32_t e) override {
    then[static_cast<std::size_t>(e)] = parameters.entries()[static_cast<std::size_t>(e)].weight.grad().clone();
    ++count;
  }
  const Parameters& parameters;
  std::vector<Tensor> then;
  std::size_t count = 0;
};

// A sum that sets out as soon as a gradient is complete must not miss a part of it, whatever the model.
TEST(PairLearner, GradientsDoNotChangeOnceTheyAreComplete) {
  const test::BackwardsTask task(6, 12, 5, 3);
  for (const std::string name : preset_names()) {
    SCOPED_TRACE(name);
    ModelConfig config = preset(name);
    if (!std::holds_alternative<GeneratorConfig>(config.head)) continue;
    if (!std::holds_alternative<TokenSourceConfig>(config.source)) continue;
    config.tokens().vocabulary = config.generator().vocabulary = 20;
    Parameters p(1);
    const auto learner = pair_learners(config, task)(p);
    Pass pass(0.1F, 3);
    const BatchLoss cost = learner->loss(task.all(), {.label_smoothing = 0.1F}, pass);
    Completed completed(p);
    backward(cost.loss, &completed);
    EXPECT_GT(completed.count, p.entries().size() / 2) << "too few to overlap anything with";
    for (std::size_t e = 0; e < completed.then.size(); ++e) {
      const Tensor now = p.entries()[e].weight.grad();
      if (!completed.then[e]) continue;
      EXPECT_TRUE(std::equal(now.values().begin(), now.values().end(), completed.then[e].values().begin()))
          << p.entries()[e].name;
    }
  }
}

TEST(PairLearner, GivesTheLossOfItsModel) {
  const TwoPairs pairs;
  const ModelConfig config = tiny();
  Parameters p(1);
  const Seq2Seq model(config, p);
  const auto learner = pair_learners(config, pairs)(p);
  const std::vector<std::int64_t> both{0, 1};
  PairBatch batch;
  batch.fill(pairs, both);
  std::vector<double> scores(2);
  model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, scores);
  Pass pass;
  const BatchLoss cost = learner->loss(both, {}, pass);
  EXPECT_EQ(cost.outputs, 5);
  EXPECT_NEAR(cost.nll, -scores[0] - scores[1], 1e-4);
  EXPECT_NEAR(cost.loss.value().item(), cost.nll, 1e-4);
  // With R-Drop each is there twice.
  const std::vector<std::int64_t> twice{both[0], both[1], both[0], both[1]};
  EXPECT_EQ(learner->loss(twice, {.r_drop = 1}, pass).outputs, 10);
}

}  // namespace
}  // namespace fovea
