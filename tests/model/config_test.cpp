// Every configuration that cannot be is refused by name, and what is just possible is not.
#include "model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;
using Change = std::function<void(ModelConfig&)>;

ModelConfig possible(const char* name = "transformer-tiny") {
  ModelConfig config = preset(name);
  config.source_vocabulary = config.target_vocabulary = 100;
  return config;
}

// The message, with spaces and dashes of names as underscores.
void expect_refused(const std::string& name, const Change& change, const char* from = "transformer-tiny") {
  ModelConfig config = possible(from);
  change(config);
  std::string message = test::message_of<UsageError>([&] { config.check(); });
  std::replace(message.begin(), message.end(), '-', '_');
  std::replace(message.begin(), message.end(), ' ', '_');
  EXPECT_THAT(message, HasSubstr(name));
}

void expect_taken(const Change& change, const char* from = "transformer-tiny") {
  ModelConfig config = possible(from);
  change(config);
  EXPECT_NO_THROW(config.check());
}

TEST(ModelConfig, EveryPresetIsPossible) {
  for (const char* name : preset_names()) EXPECT_NO_THROW(possible(name).check()) << name;
  EXPECT_THAT(test::message_of<UsageError>([] { (void)preset("none"); }), HasSubstr("rnn-bahdanau"));
}

TEST(ModelConfig, NumbersOutsideTheirRangesAreRefused) {
  const auto range = [](const std::string& name, int ModelConfig::*field, int least, int most) {
    expect_refused(
        name, [=](ModelConfig& c) { c.*field = least - 1; }, "rnn-plain");
    expect_refused(
        name, [=](ModelConfig& c) { c.*field = most + 1; }, "rnn-plain");
    expect_taken([=](ModelConfig& c) { c.*field = least; }, "rnn-plain");
    expect_taken([=](ModelConfig& c) { c.*field = most; }, "rnn-plain");
  };
  range("layers", &ModelConfig::layers, 1, 64);
  range("decoder_layers", &ModelConfig::decoder_layers, 0, 64);
  range("dim", &ModelConfig::dim, 1, 16384);
  range("embedding", &ModelConfig::embedding, 0, 16384);
  range("ffn", &ModelConfig::ffn, 1, 65536);
  range("heads", &ModelConfig::heads, 1, 256);
  range("kernel", &ModelConfig::kernel, 1, 63);
  range("local_window", &ModelConfig::local_window, 1, 10000);
  range("max_positions", &ModelConfig::max_positions, 1, 1 << 20);
  range("source_vocabulary", &ModelConfig::source_vocabulary, 5, 1 << 24);
  range("target_vocabulary", &ModelConfig::target_vocabulary, 5, 1 << 24);
}

TEST(ModelConfig, ATransformersHeadsDivideItsWidth) {
  expect_refused("heads", [](ModelConfig& c) { c.heads = 3; });
  expect_refused("heads", [](ModelConfig& c) {
    c.heads = 3;
    c.encoder = Arch::rnn;
  });
  expect_taken([](ModelConfig& c) { c.heads = 8; });
  expect_taken([](ModelConfig& c) { c.heads = 3; }, "rnn-bahdanau");
}

TEST(ModelConfig, ATransformersEmbeddingIsAsWideAsItIs) {
  expect_refused("embedding", [](ModelConfig& c) { c.embedding = 64; });
  expect_taken([](ModelConfig& c) { c.embedding = 128; });
  expect_taken([](ModelConfig& c) { c.embedding = 64; }, "rnn-bahdanau");
}

TEST(ModelConfig, RotaryPositionsNeedEvenHeads) {
  for (const Positions kind : {Positions::rotary, Positions::rotary_cross}) {
    expect_refused("positions", [kind](ModelConfig& c) {
      c.positions = kind;
      c.dim = 12;
    });
    expect_taken([kind](ModelConfig& c) {
      c.positions = kind;
      c.dim = 16;
    });
  }
  expect_taken([](ModelConfig& c) { c.dim = 12; });
}

TEST(ModelConfig, ACnnEncodersKernelIsOdd) {
  expect_refused(
      "kernel", [](ModelConfig& c) { c.kernel = 4; }, "cnn");
  expect_taken([](ModelConfig& c) { c.kernel = 5; }, "cnn");
  expect_taken([](ModelConfig& c) { c.kernel = 4; });
}

TEST(ModelConfig, OnlyTwoRnnsGoWithoutScaledEmbeddings) {
  const auto unscaled = [](ModelConfig& c) { c.scaled_embeddings = false; };
  for (const char* name : {"transformer-tiny", "cnn"}) expect_refused("embeddings", unscaled, name);
  expect_refused(
      "embeddings",
      [](ModelConfig& c) {
        c.scaled_embeddings = false;
        c.decoder = Arch::cnn;
      },
      "rnn-plain");
  expect_taken(unscaled, "rnn-plain");
}

TEST(ModelConfig, AllMatricesAreOneOnlyWithASharedVocabulary) {
  expect_refused("tie", [](ModelConfig& c) { c.tie = Tie::all; });
  expect_taken([](ModelConfig& c) {
    c.tie = Tie::all;
    c.shared_vocabulary = true;
  });
  expect_taken([](ModelConfig& c) { c.tie = Tie::target; });
}

TEST(ModelConfig, LocalAttentionIsForAnRnnWithAttention) {
  const auto local = [](ModelConfig& c) { c.local = LocalKind::monotonic; };
  expect_refused("local", local);
  expect_refused("local", local, "rnn-plain");
  expect_taken(local, "rnn-luong");
}

TEST(ModelConfig, CoverageIsForAdditiveScores) {
  const auto coverage = [](RnnAttention score) {
    return [score](ModelConfig& c) {
      c.coverage = true;
      c.attention = score;
    };
  };
  for (const RnnAttention score : {RnnAttention::additive, RnnAttention::concat}) {
    expect_taken(coverage(score), "rnn-bahdanau");
    expect_refused("coverage", coverage(score));
  }
  for (const RnnAttention score : {RnnAttention::none, RnnAttention::dot, RnnAttention::general}) {
    expect_refused("coverage", coverage(score), "rnn-bahdanau");
  }
}

TEST(ModelConfig, InputFeedingIsForTheLuongForm) {
  const auto feeding = [](ModelConfig& c) { c.input_feeding = true; };
  expect_refused("input_feeding", feeding);
  expect_refused("input_feeding", feeding, "rnn-bahdanau");
  expect_taken(feeding, "rnn-luong");
}

TEST(ModelConfig, TheConditionalFormHasAttentionAndOneLayer) {
  const auto conditional = [](ModelConfig& c) { c.form = RnnForm::conditional; };
  expect_taken(conditional, "rnn-bahdanau");
  expect_refused("form", conditional, "rnn-plain");
  expect_refused(
      "form",
      [](ModelConfig& c) {
        c.form = RnnForm::conditional;
        c.layers = 2;
      },
      "rnn-bahdanau");
  expect_taken(
      [](ModelConfig& c) {
        c.form = RnnForm::conditional;
        c.layers = 2;
        c.decoder_layers = 1;
      },
      "rnn-bahdanau");
}

TEST(ModelConfig, TheDecoderHasAsManyLayersAsTheEncoderUnlessToldOtherwise) {
  ModelConfig config = possible();
  config.layers = 5;
  EXPECT_EQ(config.decoder_layer_count(), 5);
  config.decoder_layers = 2;
  EXPECT_EQ(config.decoder_layer_count(), 2);
  EXPECT_EQ(config.encoder_layers(), 5);
}

TEST(ModelConfig, LearnedPositionsLimitWhatItReadsAndWrites) {
  ModelConfig config = possible();
  config.max_positions = 77;
  EXPECT_EQ(config.longest_source(), 0);
  EXPECT_EQ(config.longest_target(), 0);
  config.positions = Positions::learned;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 77);
  config.decoder = Arch::rnn;
  EXPECT_EQ(config.longest_target(), 0);
  config = possible("cnn");
  config.max_positions = 77;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 77);
  config = possible("rnn-bahdanau");
  config.max_positions = 77;
  EXPECT_EQ(config.longest_source(), 0);
  config.attention = RnnAttention::location;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 0);
}

TEST(ModelConfig, ComesBackFromJsonAsItWas) {
  for (const char* name : preset_names()) {
    ModelConfig config = possible(name);
    config.languages = "en-de";
    config.max_positions = 77;
    config.decoder_layers = 1;
    EXPECT_EQ(to_json(model_config_from_json(to_json(config), "file")), to_json(config)) << name;
  }
}

TEST(ModelConfig, WhatIsMissingOrWrongInJsonIsAnErrorWithFileAndField) {
  const auto said = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = to_json(possible());
    change(json);
    return test::message_of<FileError>([&] { (void)model_config_from_json(json, "some/file"); });
  };
  EXPECT_THAT(said([](auto& j) { j.erase("dim"); }), testing::AllOf(HasSubstr("some/file"), HasSubstr("dim")));
  EXPECT_THAT(said([](auto& j) { j["dim"] = "wide"; }), testing::AllOf(HasSubstr("some/file"), HasSubstr("dim")));
  EXPECT_THAT(said([](auto& j) { j["norm"] = "sideways"; }), testing::AllOf(HasSubstr("norm"), HasSubstr("post")));
  EXPECT_THAT(said([](auto& j) { j["heads"] = 3; }), testing::AllOf(HasSubstr("some/file"), HasSubstr("heads")));
  EXPECT_THAT(said([](auto& j) { j = 3; }), HasSubstr("some/file"));
}

}  // namespace
}  // namespace fovea
