// A whole training from C++, and the model it leaves.
#include "fovea/training_job.hpp"

#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "fovea/translator.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

class Job : public testing::Test {
 protected:
  Job() {
    std::string source, target;
    for (int i = 0; i < 40; ++i) {
      const std::string digit = std::to_string(i % 5);
      source += "eins zwei " + digit + "\n";
      target += digit + " two one\n";
    }
    for (const char* name : {"train.src", "valid.src"}) test::write_text(folder / name, source);
    for (const char* name : {"train.tgt", "valid.tgt"}) test::write_text(folder / name, target);
    job.model = folder / "m";
    job.source = folder / "train.src";
    job.target = folder / "train.tgt";
    job.valid_source = folder / "valid.src";
    job.valid_target = folder / "valid.tgt";
    job.config = preset("transformer-tiny");
    job.tokenizer = TokenizerKind::word;
    job.options.max_steps = 20;
    job.options.batch_tokens = 64;
    job.options.report_every = 5;
  }
  test::Scratch folder;
  TrainingJob job;
};

TEST_F(Job, TrainsAModelThatTranslates) {
  EXPECT_EQ(train(job), Trainer::End::limit);
  for (const char* name : {"config.json", "model.safetensors", "log.jsonl", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(job.model / name)) << name;
  }
  const Translator translator(job.model);
  const Generated one = translator.translate("eins zwei 3", {.max_length = 4, .attention = true});
  const AttentionRecord& record = one.attention;
  EXPECT_THAT(record.source, testing::ElementsAre("eins", "zwei", "3", "</s>"));
  ASSERT_FALSE(record.target.empty());
  EXPECT_EQ(record.target.back(), "</s>");
  EXPECT_LT(one.log_probability, 0);
  EXPECT_EQ(record.weights.rows, static_cast<std::int64_t>(record.target.size()));
  EXPECT_EQ(record.weights.columns, static_cast<std::int64_t>(record.source.size()));
  EXPECT_FALSE(translator.translate("eins zwei 3").attention.has_weights()) << "only when asked for";
  const std::vector<std::string> lines{"eins zwei 1", "", "eins"};
  const auto all = translator.translate(lines, {.beam = 3, .n_best = 2});
  ASSERT_EQ(all.size(), 3U);
  for (const auto& outputs : all) EXPECT_EQ(outputs.size(), 2U);
}

TEST_F(Job, AnObserverSeesEachStepAndMayStop) {
  struct Observer final : TrainingObserver {
    std::vector<std::string> notes;
    std::int64_t steps = 0, reports = 0, validations = 0;
    void started(const std::vector<std::string>& all) override { notes = all; }
    void stepped(const TrainState& state, double) override { steps = state.step; }
    void reported(const TrainReport&) override { ++reports; }
    void validated(const TrainState&, const Validation& v, bool best) override {
      ++validations;
      EXPECT_TRUE(best);
      EXPECT_GT(v.loss, 0);
    }
  } observer;
  EXPECT_EQ(train(job, observer, [&] { return observer.steps == 12; }), Trainer::End::interrupted);
  EXPECT_EQ(observer.steps, 12);
  EXPECT_EQ(observer.reports, 2);
  EXPECT_THAT(observer.notes, testing::Contains(testing::HasSubstr("training: 40 pairs")));
  job.resume = true;
  EXPECT_EQ(train(job), Trainer::End::limit);
  EXPECT_NO_THROW(Translator{job.model});
}

TEST_F(Job, CheckpointsThatWereHalfWrittenAreRemoved) {
  job.options.max_steps = 2;
  job.options.checkpoint_every = 1;
  job.keep_checkpoints = 2;
  train(job);
  const std::filesystem::path checkpoints = job.model / "checkpoints";
  const std::filesystem::path left = checkpoints / "step-000001" / ".model.safetensors.999999999.0.tmp";
  ASSERT_TRUE(std::filesystem::exists(left.parent_path()));
  test::write_text(left, "half");
  std::filesystem::create_directories(checkpoints / "step-000009");
  job.resume = true;
  train(job);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_FALSE(std::filesystem::exists(checkpoints / "step-000009"));
  EXPECT_TRUE(std::filesystem::exists(checkpoints / "step-000001" / "model.safetensors"));
}

TEST_F(Job, WhatCannotBeIsNamedByItsField) {
  const auto message = [this](const auto& change) {
    TrainingJob wrong = job;
    change(wrong);
    return test::message_of<UsageError>([&] { (void)train(wrong); });
  };
  EXPECT_THAT(message([](TrainingJob& j) { j.options.batch_tokens = 0; }),
              testing::StartsWith("batch_tokens: must be at least 1, is 0"));
  EXPECT_THAT(message([](TrainingJob& j) { j.options.dropout = 1; }),
              testing::StartsWith("dropout: must be at least 0 and less than 1, is 1"));
  EXPECT_THAT(message([](TrainingJob& j) {
                j.config = preset("transformer-tiny");
                std::get<TransformerConfig>(j.config.encoder).dim = 0;
                std::get<TransformerConfig>(j.config.generator().decoder).dim = 0;
              }),
              testing::StartsWith("dim: must be from 1 to 16384, is 0"))
      << "not the learning rate, which follows from it";
  EXPECT_THAT(message([](TrainingJob& j) { j.model.clear(); }), testing::StartsWith("model: "));
  EXPECT_FALSE(std::filesystem::exists(job.model)) << "said before anything is written";
  job.source = folder / "nowhere";
  EXPECT_THAT(test::message_of<FileError>([&] { (void)train(job); }), testing::HasSubstr("nowhere"));
  job.source = folder / "train.src";
  train(job);
  EXPECT_THAT(test::message_of<UsageError>([&] { (void)train(job); }), testing::HasSubstr("resume continues"));
}

}  // namespace
}  // namespace fovea
