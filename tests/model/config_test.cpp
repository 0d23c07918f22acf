// Every configuration that cannot be is refused by name, and what is just possible is not.
#include "fovea/model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;
using Change = std::function<void(ModelConfig&)>;

ModelConfig usable(const char* name = "transformer-tiny") {
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
  ModelConfig config = usable(from);
  change(config);
  std::string message = test::message_of<UsageError>([&] { config.check(); });
  std::replace(message.begin(), message.end(), '-', '_');
  std::replace(message.begin(), message.end(), ' ', '_');
  EXPECT_THAT(message, HasSubstr(name));
}

void expect_taken(const Change& change, const char* from = "transformer-tiny") {
  ModelConfig config = usable(from);
  change(config);
  EXPECT_NO_THROW(config.check());
}

TEST(ModelConfig, EveryPresetIsPossible) {
  for (const char* name : preset_names()) EXPECT_NO_THROW(usable(name).check()) << name;
  EXPECT_THAT(test::message_of<UsageError>([] { (void)preset("none"); }), HasSubstr("rnn-bahdanau"));
}

TEST(ModelConfig, TheDeepPresetHasMoreLayersWhereTheyCostLess) {
  const ModelConfig deep = usable("transformer-deep");
  EXPECT_EQ(layers_of(deep.encoder), 6);
  EXPECT_EQ(layers_of(deep.generator().decoder), 2);
}

TEST(ModelConfig, NumbersOutsideTheirRangesAreRefused) {
  using Field = std::function<int&(ModelConfig&)>;
  const auto range = [](const char* from, const std::string& name, const Field& field, int least, int most) {
    SCOPED_TRACE(name);
    expect_refused(
        name, [&](ModelConfig& c) { field(c) = least - 1; }, from);
    expect_refused(
        name, [&](ModelConfig& c) { field(c) = most + 1; }, from);
    expect_taken([&](ModelConfig& c) { field(c) = least; }, from);
    expect_taken([&](ModelConfig& c) { field(c) = most; }, from);
  };
  using Rnn = RnnEncoderConfig;
  using RnnOut = RnnDecoderConfig;
  range(
      "rnn-plain", "layers", [](ModelConfig& c) -> int& { return encoder<Rnn>(c).layers; }, 1, 64);
  range(
      "rnn-plain", "layers", [](ModelConfig& c) -> int& { return decoder<RnnOut>(c).layers; }, 1, 64);
  range(
      "rnn-plain", "dim", [](ModelConfig& c) -> int& { return encoder<Rnn>(c).dim; }, 1, 16384);
  range(
      "rnn-plain", "dim", [](ModelConfig& c) -> int& { return decoder<RnnOut>(c).dim; }, 1, 16384);
  range(
      "rnn-plain", "embedding", [](ModelConfig& c) -> int& { return c.tokens().embedding; }, 1, 16384);
  range(
      "rnn-plain", "embedding", [](ModelConfig& c) -> int& { return c.generator().embedding; }, 1, 16384);
  range(
      "rnn-plain", "vocabulary", [](ModelConfig& c) -> int& { return c.tokens().vocabulary; }, 5, 1 << 24);
  range(
      "rnn-plain", "vocabulary", [](ModelConfig& c) -> int& { return c.generator().vocabulary; }, 5, 1 << 24);
  for (const bool writes : {false, true}) {
    const auto transformer = [writes](ModelConfig& c) -> TransformerConfig& {
      return writes ? decoder<TransformerConfig>(c) : encoder<TransformerConfig>(c);
    };
    const auto cnn = [writes](ModelConfig& c) -> CnnConfig& {
      return writes ? decoder<CnnConfig>(c) : encoder<CnnConfig>(c);
    };
    const char* from = "transformer-small";
    range(
        from, "layers", [&](ModelConfig& c) -> int& { return transformer(c).layers; }, 1, 64);
    range(
        from, "ffn", [&](ModelConfig& c) -> int& { return transformer(c).ffn; }, 1, 65536);
    range(
        from, "heads", [&](ModelConfig& c) -> int& { return transformer(c).heads; }, 1, 256);
    range(
        "cnn", "layers", [&](ModelConfig& c) -> int& { return cnn(c).layers; }, 1, 64);
    range(
        "cnn", "kernel", [&](ModelConfig& c) -> int& { return cnn(c).kernel; }, 1, 63);
    range(
        "cnn", "max_positions", [&](ModelConfig& c) -> int& { return cnn(c).max_positions; }, 1, 1 << 20);
  }
  const auto window = [](ModelConfig& c) -> int& {
    decoder<RnnDecoderConfig>(c).local = LocalKind::monotonic;
    return decoder<RnnDecoderConfig>(c).local_window;
  };
  range("rnn-luong", "local_window", window, 1, 10000);
}

TEST(ModelConfig, ATransformersHeadsDivideItsWidth) {
  expect_refused("heads", [](ModelConfig& c) { encoder<TransformerConfig>(c).heads = 3; });
  expect_refused("heads", [](ModelConfig& c) { decoder<TransformerConfig>(c).heads = 3; });
  expect_refused("heads", [](ModelConfig& c) {
    decoder<TransformerConfig>(c).heads = 3;
    c.encoder = RnnEncoderConfig{};
  });
  expect_taken([](ModelConfig& c) { encoder<TransformerConfig>(c).heads = 8; });
}

TEST(ModelConfig, ATransformersEmbeddingIsAsWideAsItIs) {
  expect_refused("embedding", [](ModelConfig& c) { c.tokens().embedding = 64; });
  expect_refused("embedding", [](ModelConfig& c) { c.generator().embedding = 64; });
  expect_taken([](ModelConfig& c) { c.tokens().embedding = c.generator().embedding = 128; });
  expect_taken([](ModelConfig& c) { c.tokens().embedding = c.generator().embedding = 64; }, "rnn-bahdanau");
}

TEST(ModelConfig, RotaryPositionsNeedEvenHeads) {
  const auto width = [](int dim, Positions positions) {
    return [=](ModelConfig& c) {
      for (auto* part : {&encoder<TransformerConfig>(c), &decoder<TransformerConfig>(c)}) {
        part->positions = positions;
        part->dim = dim;
      }
      c.tokens().embedding = c.generator().embedding = dim;
    };
  };
  for (const Positions kind : {Positions::rotary, Positions::rotary_cross}) {
    expect_refused("positions", width(12, kind));
    expect_taken(width(16, kind));
  }
  expect_taken(width(12, Positions::sinusoidal));
}

TEST(ModelConfig, OnlyADecoderHasSomethingElseThanSelfAttention) {
  expect_refused("decoder_self",
                 [](ModelConfig& c) { encoder<TransformerConfig>(c).decoder_self = DecoderSelf::ssru; });
  for (const DecoderSelf self : {DecoderSelf::ssru, DecoderSelf::average}) {
    for (const Positions positions : {Positions::sinusoidal, Positions::learned, Positions::rotary, Positions::alibi}) {
      const auto with = [=](ModelConfig& c) {
        decoder<TransformerConfig>(c).decoder_self = self;
        decoder<TransformerConfig>(c).positions = positions;
      };
      const bool added = positions == Positions::sinusoidal || positions == Positions::learned;
      if (self == DecoderSelf::ssru || added) {
        expect_taken(with);
      } else {
        expect_refused("decoder_self", with);
      }
    }
  }
}

TEST(ModelConfig, ACnnEncodersKernelIsOdd) {
  expect_refused(
      "kernel", [](ModelConfig& c) { encoder<CnnConfig>(c).kernel = 4; }, "cnn");
  expect_taken([](ModelConfig& c) { encoder<CnnConfig>(c).kernel = 5; }, "cnn");
  expect_taken([](ModelConfig& c) { decoder<CnnConfig>(c).kernel = 4; }, "cnn");
}

TEST(ModelConfig, ConvolutionsSideBySideHaveWidthsThatCanBe) {
  const auto with = [](std::vector<int> kernels) {
    return [kernels](ModelConfig& c) { c.encoder = ParallelCnnConfig{.kernels = kernels}; };
  };
  for (const auto& kernels : {std::vector<int>{}, {3, 0}, {64}, std::vector<int>(17, 3)}) {
    expect_refused("kernels", with(kernels), "rnn-bahdanau");
  }
  for (const auto& kernels : {std::vector<int>{1}, {2, 3, 63}, std::vector<int>(16, 3)}) {
    expect_taken(with(kernels), "rnn-bahdanau");
  }
}

TEST(ModelConfig, ACnnDoesNotGoWithoutScaledEmbeddings) {
  const auto unscaled = [](ModelConfig& c) { c.tokens().scaled_embeddings = c.generator().scaled_embeddings = false; };
  expect_refused("embeddings", unscaled, "cnn");
  expect_refused(
      "embeddings", [](ModelConfig& c) { c.tokens().scaled_embeddings = false; }, "cnn");
  expect_refused(
      "embeddings", [](ModelConfig& c) { c.generator().scaled_embeddings = false; }, "cnn");
  expect_refused(
      "embeddings",
      [&](ModelConfig& c) {
        unscaled(c);
        c.generator().decoder = CnnConfig{};
      },
      "rnn-plain");
  expect_taken(unscaled, "rnn-plain");
  expect_taken(unscaled, "transformer-tiny");  // as other programs train them
}

TEST(ModelConfig, AllMatricesAreOneOnlyWithASharedVocabulary) {
  const auto all = [](ModelConfig& c) {
    c.generator().tie = Tie::all;
    c.shared_vocabulary = true;
  };
  expect_refused("tie", [](ModelConfig& c) { c.generator().tie = Tie::all; });
  expect_taken(all);
  expect_taken([](ModelConfig& c) { c.generator().tie = Tie::target; });
  expect_refused("tie", [&](ModelConfig& c) {
    all(c);
    c.tokens().vocabulary = 101;
  });
  expect_refused(
      "tie",
      [&](ModelConfig& c) {
        all(c);
        c.tokens().embedding = 64;
      },
      "rnn-bahdanau");
}

TEST(ModelConfig, LocalAttentionIsForAnRnnWithAttention) {
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

TEST(ModelConfig, TheConditionalFormHasAttention) {
  const auto conditional = [](int encoder_layers, int decoder_layers) {
    return [=](ModelConfig& c) {
      encoder<RnnEncoderConfig>(c).layers = encoder_layers;
      decoder<RnnDecoderConfig>(c).layers = decoder_layers;
      decoder<RnnDecoderConfig>(c).form = RnnForm::conditional;
    };
  };
  expect_taken(conditional(1, 1), "rnn-bahdanau");
  expect_refused("form", conditional(1, 1), "rnn-plain");
  expect_taken(conditional(2, 2), "rnn-bahdanau");
  expect_taken(conditional(2, 1), "rnn-bahdanau");
}

TEST(ModelConfig, FieldsOfARecurrentDecoderThatDoNotFitAreNamed) {
  const auto with = [](auto member, auto value) {
    return [=](ModelConfig& c) { decoder<RnnDecoderConfig>(c).*member = value; };
  };
  using C = RnnDecoderConfig;
  expect_taken(with(&C::attention_dim, 20), "rnn-bahdanau");
  expect_refused("attention_dim", with(&C::attention_dim, 20), "rnn-luong");
  expect_taken(with(&C::cells_start, true), "rnn-luong");
  expect_refused("cells_start", with(&C::cells_start, true), "rnn-bahdanau");
  expect_taken(with(&C::readout, Activation::tanh), "rnn-plain");
  expect_refused("readout", with(&C::readout, Activation::relu), "rnn-plain");
  expect_refused("readout", with(&C::readout, Activation::tanh), "rnn-luong");
  expect_refused("readout", with(&C::readout_dim, 20), "rnn-luong");
  expect_refused("residual", with(&C::residual, true), "rnn-luong");
}

TEST(ModelConfig, LayersStartOnlyAsLayersOfTheSameSizeEnd) {
  const auto starting = [](int layers, int dim, Cell cell) {
    return [=](ModelConfig& c) {
      c.encoder = RnnEncoderConfig{.layers = 2, .dim = 32, .cell = Cell::lstm};
      c.generator().decoder = RnnDecoderConfig{.layers = layers, .dim = dim, .cell = cell, .layers_start = true};
    };
  };
  expect_taken(starting(2, 64, Cell::lstm), "rnn-bahdanau");
  expect_refused("layers_start", starting(3, 64, Cell::lstm), "rnn-bahdanau");
  expect_refused("layers_start", starting(2, 32, Cell::lstm), "rnn-bahdanau");
  expect_refused("layers_start", starting(2, 64, Cell::gru), "rnn-bahdanau");
  const auto also = [](auto member, const EncoderConfig& encoder) {
    return [=](ModelConfig& c) {
      c.encoder = encoder;
      RnnDecoderConfig part{.dim = 64, .cell = Cell::lstm, .layers_start = true};
      part.*member = true;
      c.generator().decoder = part;
    };
  };
  const RnnEncoderConfig rnn{.dim = 32, .cell = Cell::lstm};
  expect_taken(also(&RnnDecoderConfig::layers_start, rnn), "rnn-bahdanau");
  expect_refused("layers_start", also(&RnnDecoderConfig::layers_start, CnnConfig{}), "rnn-bahdanau");
  expect_refused("layers_start", also(&RnnDecoderConfig::mean_start, rnn), "rnn-bahdanau");
  expect_refused("layers_start", also(&RnnDecoderConfig::cells_start, rnn), "rnn-bahdanau");
}

TEST(ModelConfig, SaysWhatAttendsToTheMemory) {
  const auto expect = [](const char* name, bool attends, int layers, int heads) {
    const ModelConfig config = usable(name);
    EXPECT_EQ(config.attends(), attends) << name;
    EXPECT_EQ(config.attention_layers(), layers) << name;
    EXPECT_EQ(config.attention_heads(), heads) << name;
  };
  expect("rnn-plain", false, 0, 1);
  expect("rnn-luong", true, 1, 1);  // two layers attend once
  expect("cnn", true, 4, 1);
  expect("transformer-small", true, 3, 4);
}

TEST(ModelConfig, LearnedPositionsLimitWhatItReadsAndWrites) {
  ModelConfig config = usable();
  encoder<TransformerConfig>(config).max_positions = 77;
  decoder<TransformerConfig>(config).max_positions = 66;
  EXPECT_EQ(config.longest_source(), 0);
  EXPECT_EQ(config.longest_target(), 0);
  encoder<TransformerConfig>(config).positions = Positions::learned;
  decoder<TransformerConfig>(config).positions = Positions::learned;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 66);
  config.generator().decoder = RnnDecoderConfig{};
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 0);
  decoder<RnnDecoderConfig>(config) = {.attention = RnnAttention::location, .max_positions = 55};
  EXPECT_EQ(config.longest_source(), 55);  // the smaller of both
  config = usable("cnn");
  encoder<CnnConfig>(config).max_positions = 77;
  decoder<CnnConfig>(config).max_positions = 66;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 66);
  config = usable("rnn-bahdanau");
  decoder<RnnDecoderConfig>(config).max_positions = 77;
  EXPECT_EQ(config.longest_source(), 0);
  decoder<RnnDecoderConfig>(config).attention = RnnAttention::location;
  EXPECT_EQ(config.longest_source(), 77);
  EXPECT_EQ(config.longest_target(), 0);
}

TEST(ModelConfig, KindsAreMadeByName) {
  EXPECT_STREQ(kind_of(encoder_of_kind("rnn", "encoder")), "rnn");
  EXPECT_STREQ(kind_of(decoder_of_kind("transformer", "decoder")), "transformer");
  EXPECT_THAT(test::message_of<UsageError>([] { (void)decoder_of_kind("mlp", "decoder"); }),
              testing::AllOf(HasSubstr("decoder"), HasSubstr("mlp"), HasSubstr("rnn, cnn, transformer")));
}

}  // namespace
}  // namespace fovea
