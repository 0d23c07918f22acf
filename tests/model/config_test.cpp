// Every configuration that cannot be is refused by name, and what is just possible is not.
#include "fovea/model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <variant>

#include "fovea/error.hpp"
#include "model/config_json.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;
using Change = std::function<void(ModelConfig&)>;

ModelConfig possible(const char* name = "transformer-tiny") {
  ModelConfig config = preset(name);
  config.tokens().vocabulary = config.generator().vocabulary = 100;
  return config;
}

template <class Part>
Part& encoder(ModelConfig& c) {
  return std::get<Part>(c.encoder);
}
template <class Part>
Part& decoder(ModelConfig& c) {
  return std::get<Part>(c.generator().decoder);
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
  const auto range = [](const std::string& name, const char* from, int least, int most,
                        const std::function<void(ModelConfig&, int)>& set) {
    for (const int wrong : {least - 1, most + 1}) {
      expect_refused(
          name, [&](ModelConfig& c) { set(c, wrong); }, from);
    }
    for (const int right : {least, most}) {
      expect_taken([&](ModelConfig& c) { set(c, right); }, from);
    }
  };
  range("layers", "rnn-plain", 1, 64, [](auto& c, int n) { encoder<RnnEncoderConfig>(c).layers = n; });
  range("layers", "rnn-plain", 1, 64, [](auto& c, int n) { decoder<RnnDecoderConfig>(c).layers = n; });
  range("dim", "rnn-plain", 1, 16384, [](auto& c, int n) { encoder<RnnEncoderConfig>(c).dim = n; });
  range("dim", "rnn-plain", 1, 16384, [](auto& c, int n) { decoder<RnnDecoderConfig>(c).dim = n; });
  range("embedding", "rnn-plain", 1, 16384, [](auto& c, int n) { c.tokens().embedding = n; });
  range("embedding", "rnn-plain", 1, 16384, [](auto& c, int n) { c.generator().embedding = n; });
  range("vocabulary", "rnn-plain", 5, 1 << 24, [](auto& c, int n) { c.tokens().vocabulary = n; });
  range("vocabulary", "rnn-plain", 5, 1 << 24, [](auto& c, int n) { c.generator().vocabulary = n; });
  range("ffn", "transformer-tiny", 1, 65536, [](auto& c, int n) { encoder<TransformerConfig>(c).ffn = n; });
  range("layers", "transformer-tiny", 1, 64, [](auto& c, int n) { decoder<TransformerConfig>(c).layers = n; });
  range("kernel", "cnn", 1, 63, [](auto& c, int n) { encoder<CnnConfig>(c).kernel = n; });
  range("max_positions", "cnn", 1, 1 << 20, [](auto& c, int n) { decoder<CnnConfig>(c).max_positions = n; });
  range("local_window", "rnn-luong", 1, 10000, [](auto& c, int n) {
    decoder<RnnDecoderConfig>(c).local = LocalKind::monotonic;
    decoder<RnnDecoderConfig>(c).local_window = n;
  });
  expect_refused("heads", [](ModelConfig& c) { encoder<TransformerConfig>(c).heads = 0; });
  expect_refused("heads", [](ModelConfig& c) { decoder<TransformerConfig>(c).heads = 257; });
}

TEST(ModelConfig, ATransformersHeadsDivideItsWidth) {
  expect_refused("heads", [](ModelConfig& c) { encoder<TransformerConfig>(c).heads = 3; });
  expect_refused("heads", [](ModelConfig& c) { decoder<TransformerConfig>(c).heads = 3; });
  expect_taken([](ModelConfig& c) { encoder<TransformerConfig>(c).heads = 8; });
}

TEST(ModelConfig, ATransformersEmbeddingIsAsWideAsItIs) {
  expect_refused("embedding", [](ModelConfig& c) { c.tokens().embedding = 64; });
  expect_refused("embedding", [](ModelConfig& c) { c.generator().embedding = 64; });
  expect_taken([](ModelConfig& c) { c.tokens().embedding = c.generator().embedding = 64; }, "rnn-bahdanau");
}

TEST(ModelConfig, RotaryPositionsNeedEvenHeads) {
  for (const Positions kind : {Positions::rotary, Positions::rotary_cross}) {
    for (const int dim : {12, 16}) {
      const auto set = [kind, dim](ModelConfig& c) {
        encoder<TransformerConfig>(c).positions = kind;
        encoder<TransformerConfig>(c).dim = c.tokens().embedding = dim;
      };
      if (dim == 12) expect_refused("positions", set);
      if (dim == 16) expect_taken(set);
    }
  }
  expect_taken([](ModelConfig& c) { encoder<TransformerConfig>(c).dim = c.tokens().embedding = 12; });
}

TEST(ModelConfig, ACnnEncodersKernelIsOdd) {
  expect_refused(
      "kernel", [](ModelConfig& c) { encoder<CnnConfig>(c).kernel = 4; }, "cnn");
  expect_taken([](ModelConfig& c) { encoder<CnnConfig>(c).kernel = 5; }, "cnn");
  expect_taken([](ModelConfig& c) { decoder<CnnConfig>(c).kernel = 4; }, "cnn");
}

TEST(ModelConfig, OnlyTwoRnnsGoWithoutScaledEmbeddings) {
  const auto source = [](ModelConfig& c) { c.tokens().scaled_embeddings = false; };
  const auto target = [](ModelConfig& c) { c.generator().scaled_embeddings = false; };
  for (const char* name : {"transformer-tiny", "cnn"}) {
    expect_refused("scaled_embeddings", source, name);
    expect_refused("scaled_embeddings", target, name);
  }
  expect_taken(source, "rnn-plain");
  expect_taken(target, "rnn-plain");
}

TEST(ModelConfig, AllMatricesAreOneOnlyWithASharedVocabulary) {
  expect_refused("tie", [](ModelConfig& c) { c.generator().tie = Tie::all; });
  expect_taken([](ModelConfig& c) {
    c.generator().tie = Tie::all;
    c.shared_vocabulary = true;
  });
  expect_refused("tie", [](ModelConfig& c) {
    c.generator().tie = Tie::all;
    c.shared_vocabulary = true;
    c.generator().vocabulary = 101;
  });
  expect_taken([](ModelConfig& c) { c.generator().tie = Tie::target; });
}

TEST(ModelConfig, LocalAttentionNeedsAttention) {
  const auto local = [](ModelConfig& c) { decoder<RnnDecoderConfig>(c).local = LocalKind::monotonic; };
  expect_refused("local", local, "rnn-plain");
  expect_taken(local, "rnn-luong");
}

TEST(ModelConfig, CoverageIsForAdditiveScores) {
  const auto coverage = [](RnnAttention score) {
    return [score](ModelConfig& c) {
      decoder<RnnDecoderConfig>(c).coverage = true;
      decoder<RnnDecoderConfig>(c).attention = score;
    };
  };
  for (const RnnAttention score : {RnnAttention::additive, RnnAttention::concat}) {
    expect_taken(coverage(score), "rnn-bahdanau");
  }
  for (const RnnAttention score : {RnnAttention::none, RnnAttention::dot, RnnAttention::general}) {
    expect_refused("coverage", coverage(score), "rnn-bahdanau");
  }
}

TEST(ModelConfig, InputFeedingIsForTheLuongForm) {
  const auto feeding = [](ModelConfig& c) { decoder<RnnDecoderConfig>(c).input_feeding = true; };
  expect_refused("input_feeding", feeding, "rnn-bahdanau");
  expect_taken(feeding, "rnn-luong");
}

TEST(ModelConfig, TheConditionalFormHasAttentionAndOneLayer) {
  const auto conditional = [](int layers) {
    return [layers](ModelConfig& c) {
      decoder<RnnDecoderConfig>(c).form = RnnForm::conditional;
      decoder<RnnDecoderConfig>(c).layers = layers;
    };
  };
  expect_taken(conditional(1), "rnn-bahdanau");
  expect_refused("form", conditional(1), "rnn-plain");
  expect_refused("form", conditional(2), "rnn-bahdanau");
}

TEST(ModelConfig, LearnedPositionsLimitWhatItReadsAndWrites) {
  ModelConfig config = possible();
  EXPECT_EQ(config.longest_source(), 0);
  EXPECT_EQ(config.longest_target(), 0);
  encoder<TransformerConfig>(config).positions = Positions::learned;
  encoder<TransformerConfig>(config).max_positions = 77;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 0);
  decoder<TransformerConfig>(config).positions = Positions::learned;
  decoder<TransformerConfig>(config).max_positions = 66;
  EXPECT_EQ(config.longest_target(), 66);
  config = possible("cnn");
  encoder<CnnConfig>(config).max_positions = 77;
  decoder<CnnConfig>(config).max_positions = 66;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 66);
  config = possible("rnn-bahdanau");
  decoder<RnnDecoderConfig>(config).max_positions = 77;
  EXPECT_EQ(config.longest_source(), 0);
  decoder<RnnDecoderConfig>(config).attention = RnnAttention::location;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 0);
}

TEST(ModelConfig, ComesBackFromJsonAsItWas) {
  for (const char* name : preset_names()) {
    ModelConfig config = possible(name);
    config.languages = "en-de";
    config.generator().vocabulary = 77;
    EXPECT_EQ(to_json(model_config_from_json(to_json(config), "file")), to_json(config)) << name;
  }
}

TEST(ModelConfig, JsonThatIsNoConfigurationIsAnErrorWithTheFile) {
  EXPECT_THAT(test::message_of<FileError>([] { (void)model_config_from_json(3, "some/file"); }),
              HasSubstr("some/file"));
  nlohmann::json json = to_json(possible());
  json.erase("encoder");
  EXPECT_THAT(test::message_of<FileError>([&] { (void)model_config_from_json(json, "some/file"); }),
              testing::AllOf(HasSubstr("some/file"), HasSubstr("encoder")));
}

}  // namespace
}  // namespace fovea
