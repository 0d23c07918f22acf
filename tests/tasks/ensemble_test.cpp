// Several models behind one Translator.
#include <gmock/gmock.h>

#include <cmath>

#include "fovea/error.hpp"
#include "fovea/translator.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

using Folders = std::vector<std::filesystem::path>;

class EnsembleTranslator : public testing::Test {
 protected:
  EnsembleTranslator() {
    test::write_tiny_model(first, test::tiny_transformer(), "en-de", 1);
    test::write_tiny_model(second, test::tiny_rnn(), "en-de", 2);
  }
  test::Scratch scratch;
  std::filesystem::path first = scratch.folder() / "first";
  std::filesystem::path second = scratch.folder() / "second";
  std::vector<std::string> lines{"one two three", "four", "", "five six seven one two"};
};

TEST_F(EnsembleTranslator, TheSameModelTwiceWritesWhatItWritesAlone) {
  GenerateOptions how;
  how.attention = true;
  how.max_length = 8;
  const auto alone = Translator(first).translate(lines, how);
  const auto twice = Translator(Folders{first, first}).translate(lines, how);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(alone[i][0].text, twice[i][0].text);
    EXPECT_NEAR(alone[i][0].log_probability, twice[i][0].log_probability, 1e-4);
    EXPECT_EQ(alone[i][0].attention.weights.values, twice[i][0].attention.weights.values);
  }
}

// What an output of two models of unlike kinds should have for a probability, from each of them by itself.
TEST_F(EnsembleTranslator, AnOutputHasTheProductOfItsTokensMeanProbabilities) {
  GenerateOptions how;
  how.max_length = 6;
  const Translator both(Folders{first, second});
  const auto results = both.translate(lines, how);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      EXPECT_EQ(results[i][0].text, "");
      continue;
    }
    auto source = both.tokenizers().source->encode(lines[i]);
    source.push_back(eos_id);
    const std::vector<std::int64_t> lengths{static_cast<std::int64_t>(source.size())};
    auto target = both.tokenizers().target->encode(results[i][0].text);
    target.push_back(eos_id);
    std::vector<double> mean(target.size(), 0.0);
    for (const auto& folder : {first, second}) {
      LoadedModel loaded = load_model(folder);
      const Seq2Seq model(loaded.config, loaded.parameters);
      const NoGrad quiet;
      Pass pass;
      const Memory memory = model.encode({source, lengths, 1, lengths[0]}, pass);
      const auto stepper = model.start(memory, false);
      std::int32_t last = bos_id;
      for (std::size_t t = 0; t < target.size(); ++t) {
        const Tensor scores = stepper->step({&last, 1});
        double sum = 0;
        for (const float s : scores.values()) sum += std::exp(static_cast<double>(s));
        last = target[t];
        mean[t] += std::exp(static_cast<double>(scores.data()[last])) / sum / 2;
      }
    }
    double wanted = 0;
    for (const double p : mean) wanted += std::log(p);
    EXPECT_NEAR(results[i][0].log_probability, wanted, 1e-4);
  }
}

TEST_F(EnsembleTranslator, ALineIsWrittenAlikeAloneAndAmongOthers) {
  const Translator both(Folders{first, second});
  GenerateOptions how;
  how.attention = true;
  const auto together = both.translate(lines, how);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto alone = both.translate(std::vector{lines[i]}, how);
    EXPECT_EQ(alone[0][0].text, together[i][0].text);
    EXPECT_EQ(alone[0][0].log_probability, together[i][0].log_probability);
    EXPECT_EQ(alone[0][0].attention.weights.values, together[i][0].attention.weights.values);
  }
}

TEST_F(EnsembleTranslator, AModelWithoutAttentionLeavesItToTheOthers) {
  ModelConfig plain = test::tiny_rnn();
  std::get<RnnDecoderConfig>(plain.generator().decoder).attention = RnnAttention::none;
  const auto blind = scratch.folder() / "blind";
  test::write_tiny_model(blind, plain, "en-de", 3);
  EXPECT_FALSE(Translator(blind).attends());
  const Translator both(Folders{blind, second});
  EXPECT_TRUE(both.attends());
  GenerateOptions how;
  how.attention = true;
  for (const auto& best : both.translate(std::vector<std::string>{"one two three"}, how)) {
    EXPECT_EQ(best[0].attention.weights.columns, 4);
    EXPECT_TRUE(best[0].attention.has_weights());
  }
  // Layers and heads are of one model; of several there is what they wrote, and the beam.
  const GenerationTrace trace = both.trace("one two three", how);
  EXPECT_TRUE(trace.output.attention.maps.empty());
  EXPECT_GT(trace.beam.nodes.size(), 1U);
}

TEST_F(EnsembleTranslator, TheShortestMemberLimitsALine) {
  ModelConfig learned = test::tiny_transformer();
  auto& encoder = std::get<TransformerConfig>(learned.encoder);
  auto& decoder = std::get<TransformerConfig>(learned.generator().decoder);
  encoder.positions = decoder.positions = Positions::learned;
  Folders folders{first};
  for (const int positions : {12, 6}) {
    encoder.max_positions = decoder.max_positions = positions;
    folders.push_back(scratch.folder() / std::to_string(positions));
    test::write_tiny_model(folders.back(), learned, "en-de", 4);
  }
  const std::vector<std::string> five{"one two three four five"};
  const std::vector<std::string> six{"one two three four five six"};
  GenerateOptions how;
  EXPECT_NO_THROW((void)Translator(folders).translate(five, how));
  EXPECT_THROW((void)Translator(folders).translate(six, how), Error);
  EXPECT_NO_THROW((void)Translator(std::span(folders).first(2)).translate(six, how));
  how.max_length = 6;
  EXPECT_THROW(Translator(folders).check(how), UsageError);
  how.max_length = 5;
  EXPECT_NO_THROW(Translator(folders).check(how));
}

TEST_F(EnsembleTranslator, WhatSeveralModelsCannotDoIsSaid) {
  EXPECT_THROW(Translator(Folders{}), UsageError);
  const Translator both(Folders{first, second});
  GenerateOptions how;
  how.head = 0;
  EXPECT_THROW(both.check(how), UsageError);
  EXPECT_THROW((void)both.score(std::vector<std::string>{"one"}, std::vector<std::string>{"one"}), UsageError);
  // Other words.
  const auto other = scratch.folder() / "other";
  test::write_tiny_model(other, test::tiny_rnn(), "en-de");
  const std::vector<std::string> words{"uno dos tres"};
  Tokenizers tokenizers;
  tokenizers.source = tokenizers.target = train_tokenizer(words, {.kind = TokenizerKind::word}).tokenizer;
  ModelConfig config = test::tiny_rnn();
  config.tokens().vocabulary = config.generator().vocabulary = tokenizers.source->size();
  config.shared_vocabulary = true;
  Parameters parameters(1);
  const Seq2Seq model(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(other, config, tokenizers);
  write_model_weights(other, parameters, weights);
  try {
    const Translator unlike(Folders{first, other});
    FAIL() << "models of other words were taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("other source tokens"));
    EXPECT_THAT(error.what(), testing::HasSubstr(other.string()));
  }
}

}  // namespace
}  // namespace fovea
