// A classifier from texts to answers, through the library.
#include "fovea/classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "fovea/training_job.hpp"
#include "fovea/translator.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"

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
    j.task = ClassifyTraining{};
    j.model = folder_.path("model");
    j.source = folder_.path("train.txt");
    j.valid_source = folder_.path("valid.txt");
    j.config.encoder = encoder;
    ClassifierConfig head{.pooling = pooling};
    if (pooling == Pooling::context || pooling == Pooling::hops || pooling == Pooling::hierarchical) head.hidden = 8;
    if (pooling == Pooling::hops) head.hops = 2;
    j.config.head = head;
    j.config.tokens().embedding = 16;
    j.tokenizer = TokenizerKind::word;
    j.options.max_steps = 60;
    j.options.batch_tokens = 128;
    j.options.dropout = 0;
    j.options.adam.rate = 0.02;
    j.options.schedule = {.kind = ScheduleKind::constant, .warmup = 5};
    j.options.checkpoint_every = 30;
    j.overwrite = true;
    return j;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Topics, EveryEncoderAndPoolingLearnsThem) {
  const std::vector<EncoderConfig> encoders{
      RnnEncoderConfig{.dim = 16}, CnnConfig{.layers = 1, .dim = 16}, ParallelCnnConfig{.dim = 8, .kernels = {2, 3}},
      TransformerConfig{.layers = 1, .dim = 16, .ffn = 16, .heads = 2}, NoEncoderConfig{.dim = 16}};
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
  const std::pair<EncoderConfig, Pooling> models[] = {
      {TransformerConfig{.layers = 1, .dim = 16, .ffn = 16, .heads = 2}, Pooling::learned},
      {ParallelCnnConfig{.dim = 8, .kernels = {3, 4, 5}}, Pooling::max}};
  for (const auto& [encoder, pooling] : models) {
    SCOPED_TRACE(kind_of(encoder));
    train(job(encoder, pooling));
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
}

TEST_F(Topics, SeveralModelsGiveTheMeanOfTheirProbabilities) {
  std::vector<std::filesystem::path> folders;
  for (const auto& [encoder, pooling] : {std::pair(EncoderConfig(NoEncoderConfig{.dim = 16}), Pooling::learned),
                                         std::pair(EncoderConfig(RnnEncoderConfig{.dim = 8}), Pooling::context),
                                         std::pair(EncoderConfig(CnnConfig{.layers = 1, .dim = 8}), Pooling::max)}) {
    TrainingJob j = job(encoder, pooling);
    j.model = folder_.path("model" + std::to_string(folders.size()));
    j.options.max_steps = 4;
    train(j);
    folders.push_back(j.model);
  }
  const std::vector<std::string> lines{"there is soup today", "", "much wind is rain"};
  const auto all = Classifier(folders).classify(lines);
  std::vector<std::vector<Classification>> alone;
  for (const auto& folder : folders) alone.push_back(Classifier(folder).classify(lines));
  for (const std::size_t i : {0U, 2U}) {
    for (const auto& [label, p] : all[i].probabilities) {
      float sum = 0;
      for (const auto& one : alone) sum += one[i].probabilities.at(label);
      EXPECT_NEAR(p, sum / 3, 1e-6F);
      EXPECT_LE(p, all[i].probability);
    }
    EXPECT_EQ(all[i].probability, all[i].probabilities.at(all[i].label));
    EXPECT_EQ(all[i].attention, alone[0][i].attention) << "one of them has no attention";
  }
  EXPECT_EQ(all[1].label, "") << "no text, no label";
  folders.pop_back();
  const Classification two = Classifier(folders).classify(lines[0]);
  for (std::size_t t = 0; t < two.tokens.size(); ++t) {
    EXPECT_NEAR(two.attention[t], (alone[0][0].attention[t] + alone[1][0].attention[t]) / 2, 1e-6F);
  }
  EXPECT_THROW((void)Classifier(folders).classify(lines[0], {.saliency = true}), UsageError);
  EXPECT_THROW((void)Classifier(std::span<const std::filesystem::path>()), UsageError);
  folder_.write("train.txt", "__label__a there\n__label__b is\n");
  folder_.write("valid.txt", "__label__a there\n__label__b is\n");
  train(job(NoEncoderConfig{.dim = 16}, Pooling::mean));
  folders.push_back(folder_.path("model"));
  EXPECT_NE(test::message_of<UsageError>([&] { (void)Classifier(folders); }).find("have other labels"),
            std::string::npos);
}

// Words, pairs of words and pieces of words, each a bag.
SourceConfig ngrams(int width) {
  NgramSourceConfig source;
  source.embedding = width;
  source.word_ngrams = 2;
  source.char_min = 3;
  source.char_max = 4;
  source.buckets = 500;
  return source;
}

TEST_F(Topics, NgramsKnowWordsThatTrainingHadNot) {
  for (const Pooling pooling : {Pooling::mean, Pooling::context, Pooling::hierarchical}) {
    TrainingJob j = job(NoEncoderConfig{.dim = 16}, pooling);
    j.config.source = ngrams(16);
    train(j);
    const Classifier classifier(folder_.path("model"));
    EXPECT_EQ(classifier.classify("there is soup today").label, "food");
    EXPECT_EQ(classifier.classify("soups").label, "food") << "which shares <so, sou, oup with soup";
    EXPECT_EQ(classifier.classify("snowy").label, "weather");
    const std::vector<std::string> lines{"soups", "there is much snow today", "breads and winds"};
    const auto all = classifier.classify(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(classifier.classify(lines[i]).probabilities, all[i].probabilities) << "alone and in a batch";
    }
  }
}

TEST_F(Topics, SentencesAreAttendedToAndWeightsStillSumToOne) {
  TrainingJob j = job(RnnEncoderConfig{.dim = 8}, Pooling::hierarchical);
  j.config.classifier().sentence_dim = 4;
  train(j);
  const Classifier classifier(folder_.path("model"));
  const Classification c = classifier.classify("There is much today. There is snow. It is so.");
  EXPECT_EQ(std::count(c.tokens.begin(), c.tokens.end(), "</s>"), 3);
  ASSERT_EQ(c.attention.size(), c.tokens.size());
  float sum = 0;
  for (const float w : c.attention) sum += w;
  EXPECT_NEAR(sum, 1, 1e-5F);
  j.config.classifier().separator = "|";
  train(j);
  const Classification cut = Classifier(folder_.path("model")).classify("soup today. || bread|rice");
  EXPECT_EQ(std::count(cut.tokens.begin(), cut.tokens.end(), "</s>"), 3) << "empty ones are none";
}

// Without an encoder and with the mean, a logit is linear in the tokens' vectors: saliency sums to it, but for the
// bias.
TEST_F(Topics, SaliencySumsToTheLogitOfALinearModel) {
  train(job(NoEncoderConfig{.dim = 16}, Pooling::mean));
  const Classifier classifier(folder_.path("model"));
  const Classification c = classifier.classify("there is soup today", {.saliency = true});
  const LoadedModel loaded = load_model(folder_.path("model"));
  const Tensor bias = loaded.parameters.find("output.bias")->value();
  const auto sum = [&](const std::string& label) {
    float s = 0;
    for (const float v : c.saliency.at(label)) s += v;
    return s;
  };
  const float logits = std::log(c.probabilities.at("food")) - std::log(c.probabilities.at("weather"));
  const bool food_first = classifier.labels()[0] == "food";
  const float biases = food_first ? bias.data()[0] - bias.data()[1] : bias.data()[1] - bias.data()[0];
  EXPECT_NEAR(sum("food") - sum("weather"), logits - biases, 1e-3F);
  ASSERT_EQ(c.saliency.at("food").size(), c.tokens.size());
  const auto& food = c.saliency.at("food");
  EXPECT_EQ(std::max_element(food.begin(), food.end()) - food.begin(), 2) << "soup";
  EXPECT_TRUE(classifier.classify("soup").saliency.empty()) << "it was not asked for";
}

TEST_F(Topics, SaliencyIsTheGradientForEveryEncoderAndDoesNotDependOnTheBatch) {
  for (const EncoderConfig& encoder :
       {EncoderConfig(RnnEncoderConfig{.dim = 8}), EncoderConfig(ParallelCnnConfig{.dim = 8, .kernels = {2, 3}}),
        EncoderConfig(NoEncoderConfig{.dim = 16})}) {
    train(job(encoder, Pooling::context));
    const Classifier classifier(folder_.path("model"));
    const std::vector<std::string> lines{"there is soup today", "snow", "much rain there is today today"};
    const ClassifyOptions how{.saliency = true};
    const auto all = classifier.classify(lines, how);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Classification alone = classifier.classify(lines[i], how);
      ASSERT_EQ(alone.saliency.size(), 2U);
      for (std::size_t t = 0; t < alone.tokens.size(); ++t) {
        EXPECT_NEAR(alone.saliency.at("food")[t], -alone.saliency.at("weather")[t], 1e-5F) << "of two labels";
        EXPECT_NEAR(alone.saliency.at("food")[t], all[i].saliency.at("food")[t], 1e-5F);
      }
      EXPECT_EQ(alone.probabilities, classifier.classify(lines[i]).probabilities);
    }
    EXPECT_EQ(classifier.classify("soup", {.saliency = true, .saliency_labels = 1}).saliency.size(), 1U);
  }
}

class Notes : public TrainingObserver {
 public:
  void started(const std::vector<std::string>& notes) override {
    for (const auto& note : notes) all += note + "\n";
  }
  std::string all;
};

TEST_F(Topics, VectorsAreWhereWordsStart) {
  TrainingJob j = job(NoEncoderConfig{.dim = 3}, Pooling::mean);
  j.config.tokens().embedding = 3;
  j.task = ClassifyTraining{.vectors = folder_.path("vectors.txt")};
  folder_.write("vectors.txt", "3 3\nsoup 1 2 3\nsnow -1 -2 -3\nelephant 0 0 1\n");
  j.options.max_steps = 1;
  j.options.adam.rate = 1e-6;
  Notes notes;
  train(j, notes);
  EXPECT_NE(notes.all.find("vectors: 3 words in the file, 2 of 10 words of the vocabulary"), std::string::npos)
      << notes.all;
  const LoadedModel loaded = load_model(folder_.path("model"));
  const std::int32_t id = loaded.tokenizers.source->encode("soup")[0];
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(loaded.parameters.find("source.embedding")->value().data()[id * 3 + k] * std::sqrt(3.0F),
                static_cast<float>(k + 1), 1e-3F);
  }
  folder_.write("vectors.txt", "soup 1 2\n");
  EXPECT_THROW(train(j), UsageError) << "another width";
  folder_.write("vectors.txt", "elephant 1 2 3\n");
  EXPECT_THROW(train(j), FileError) << "none of the words";
}

TEST_F(Topics, LabelsThatTrainingHadNotAreCounted) {
  TrainingJob j = job(NoEncoderConfig{.dim = 16}, Pooling::mean);
  folder_.write("valid.txt", "__label__food there is soup\n__label__sport there is tennis\n__label__food \n");
  Notes notes;
  train(j, notes);
  EXPECT_NE(notes.all.find("1 of 2 validation lines have a label that training does not have"), std::string::npos)
      << notes.all;
  EXPECT_NE(notes.all.find("left out 1 of 3 line pairs with an empty side"), std::string::npos) << notes.all;
}

TEST_F(Topics, TheNumberOfThreadsDoesNotChangeTheBytes) {
  TrainingJob j = job(NoEncoderConfig{.dim = 16}, Pooling::context);
  j.config.source = ngrams(16);
  j.options.replicas = 2;
  const int before = threads();
  set_threads(1);
  train(j);
  const std::string one = folder_.read("model/model.safetensors");
  set_threads(2);
  train(j);
  set_threads(before);
  EXPECT_EQ(folder_.read("model/model.safetensors"), one);
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
  TrainingJob grams = job(NoEncoderConfig{.dim = 16}, Pooling::mean);
  grams.config.source = ngrams(16);
  std::get<NgramSourceConfig>(grams.config.source).char_max = 2;
  EXPECT_THROW(train(grams), UsageError) << "3-2 is no range";
  TrainingJob penalty = job(NoEncoderConfig{.dim = 16}, Pooling::hops);
  penalty.options.loss.hops_penalty = -1;
  EXPECT_THROW(train(penalty), UsageError);
  train(job(NoEncoderConfig{.dim = 16}, Pooling::mean));
  EXPECT_THROW(Translator(std::filesystem::path(folder_.path("model"))), UsageError);
}

TEST_F(Topics, ResumingGivesTheSameWeightsAsNeverHavingStopped) {
  TrainingJob grams = job(NoEncoderConfig{.dim = 16}, Pooling::hierarchical);
  grams.config.source = ngrams(16);
  for (const TrainingJob& whole : {job(RnnEncoderConfig{.dim = 16}, Pooling::hops), grams}) {
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
}

}  // namespace
}  // namespace fovea
