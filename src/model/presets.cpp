#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/model/config.hpp"

namespace fovea {
namespace {

ModelConfig model(const EncoderConfig& encoder, const DecoderConfig& decoder) {
  ModelConfig c;
  c.encoder = encoder;
  c.generator().decoder = decoder;
  c.tokens().embedding = dim_of(encoder);
  c.generator().embedding = dim_of(decoder);
  return c;
}

ModelConfig transformer(const TransformerConfig& c) {
  return model(c, c);
}

}  // namespace

std::span<const char* const> preset_names() {
  static constexpr const char* names[] = {"rnn-bahdanau",     "rnn-luong",         "rnn-plain",       "cnn",
                                          "transformer-tiny", "transformer-small", "transformer-deep"};
  return names;
}

ModelConfig preset(std::string_view name) {
  if (name == "rnn-bahdanau") return model(RnnEncoderConfig{}, RnnDecoderConfig{});
  if (name == "rnn-plain") return model(RnnEncoderConfig{}, RnnDecoderConfig{.attention = RnnAttention::none});
  if (name == "rnn-luong") {
    return model(RnnEncoderConfig{.layers = 2, .cell = Cell::lstm, .bidirectional = false},
                 RnnDecoderConfig{.layers = 2,
                                  .cell = Cell::lstm,
                                  .attention = RnnAttention::general,
                                  .form = RnnForm::luong,
                                  .input_feeding = true});
  }
  if (name == "cnn") return model(CnnConfig{}, CnnConfig{});
  if (name == "transformer-tiny") return transformer({});
  if (name == "transformer-small") return transformer({.layers = 3, .dim = 256, .ffn = 1024});
  if (name == "transformer-deep") return model(TransformerConfig{.layers = 6}, TransformerConfig{.layers = 2});
  throw UsageError("preset", fmt::format("\"{}\" is not one of {}", name, fmt::join(preset_names(), ", ")));
}

}  // namespace fovea
