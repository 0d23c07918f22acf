// A classifier from texts to answers, through the library.
#include "fovea/classifier.hpp"

#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/training_job.hpp"
#include "fovea/translator.hpp"
#include "support/files.hpp"

namespace fovea {
namespace {

// Food or weather, which one word decides.
class Topics : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string train, valid;
    const char* food[] = {"soup", "bread", "rice"};
    const char* weather[] = {"rain", "snow", "wind"};
    for (int i = 0; i < 120; ++i) {
      const bool eats = i % 2 == 0;
      const std::string line = std::string("__label__") + (eats ? "food" : "weather") + " there is " +
                               (i % 5 == 0 ? "much " : "") + (eats ? food[i % 3] : weather[i % 3]) + " today\n";
      (i < 100 ? train : valid) += line;
    }
    folder_.write("train.txt", train);
    folder_.write("valid.txt", valid);
  }

  TrainingJob job(const EncoderConfig& encoder, Pooling pooling) const {
    TrainingJob j;
    j.task = Task::classify;
    j.model = folder_.path("model");
    j.source = folder_.path("train.txt");
    j.valid_source = folder_.path("valid.txt");
    j.config.encoder = encoder;
    j.config.head = ClassifierConfig{.pooling = pooling, .hidden = 8, .hops = 2};
    j.config.tokens().embedding = 16;
    j.tokenizer = TokenizerKind::word;
    j.options.max_steps = 60;
    j.options.batch_tokens = 128;
    j.options.dropout = 0;
    j.options.schedule = {.kind = ScheduleKind::constant, .peak = 0.02, .warmup = 5};
    j.options.checkpoint_every = 30;
    j.overwrite = true;
    return j;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Topics, EveryEncoderAndPoolingLearnsThem) {
  const std::vector<EncoderConfig> encoders{RnnEncoderConfig{.dim = 16}, CnnConfig{.layers = 1, .dim = 16},
                                            TransformerConfig{.layers = 1, .dim = 16, .ffn = 16, .heads = 2},
                                            NoEncoderConfig{.dim = 16}};
  for (const EncoderConfig& encoder : encoders) {
    for (const Pooling pooling : {Pooling::learned, Pooling::context, Pooling::hops, Pooling::mean, Pooling::max}) {
      SCOPED_TRACE(std::string(kind_of(encoder)) + " " + enum_text(pooling));
      train(job(encoder, pooling));
      const Classifier classifier(folder_.path("model"));
      const Classification food = classifier.classify("there is soup today");
      EXPECT_EQ(food.label, "food");
      EXPECT_EQ(classifier.classify("there is much snow today").label, "weather");
      EXPECT_GT(food.probability, 0.8F);
      EXPECT_NEAR(food.probabilities.at("food") + food.probabilities.at("weather"), 1.0F, 1e-5F);
      EXPECT_EQ(food.tokens, (std::vector<std::string>{"there", "is", "soup", "today", "</s>"}));
      EXPECT_EQ(food.attention.empty(), pooling == Pooling::mean || pooling == Pooling::max);
    }
  }
}

TEST_F(Topics, ALineGivesTheSameAloneAndInABatch) {
  train(job(TransformerConfig{.layers = 1, .dim = 16, .ffn = 16, .heads = 2}, Pooling::learned));
  const Classifier classifier(folder_.path("model"));
  const std::vector<std::string> lines{"there is soup today", "", "rain", "there is much much much wind today today"};
  const auto all = classifier.classify(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Classification alone = classifier.classify(lines[i]);
    EXPECT_EQ(alone.label, all[i].label);
    EXPECT_EQ(alone.probabilities, all[i].probabilities);
    EXPECT_EQ(alone.attention, all[i].attention);
  }
  EXPECT_EQ(all[1].label, "") << "no text, no label";
}

TEST_F(Topics, WhatCannotBeIsSaid) {
  TrainingJob one = job(NoEncoderConfig{.dim = 16}, Pooling::mean);
  folder_.write("one.txt", "__label__food soup\n__label__food bread\n");
  one.source = one.valid_source = folder_.path("one.txt");
  EXPECT_THROW(train(one), UsageError) << "one label is nothing to learn";
  folder_.write("none.txt", "soup\n");
  one.source = folder_.path("none.txt");
  EXPECT_THROW(train(one), FileError);
  folder_.write("two.txt", "__label__food __label__weather soup\n");
  one.source = folder_.path("two.txt");
  EXPECT_THROW(train(one), FileError);
  train(job(NoEncoderConfig{.dim = 16}, Pooling::mean));
  EXPECT_THROW(Translator(std::filesystem::path(folder_.path("model"))), UsageError);
}

TEST_F(Topics, ResumingGivesTheSameWeightsAsNeverHavingStopped) {
  const TrainingJob whole = job(RnnEncoderConfig{.dim = 16}, Pooling::hops);
  train(whole);
  const std::string weights = folder_.read("model/model.safetensors");
  TrainingJob part = whole;
  part.options.max_steps = 30;
  train(part);
  TrainingJob rest = whole;
  rest.overwrite = false;
  rest.resume = true;
  train(rest);
  EXPECT_EQ(folder_.read("model/model.safetensors"), weights);
}

}  // namespace
}  // namespace fovea
