// What a model is made of: everything needed to build it again, and nothing about how it was trained. A model is a
// source, an encoder that turns it into a memory, and a head that reads the memory; each has a config of its own, which
// holds only what that kind has.
//
// A config lists its fields once, in fields() (fovea/fields.hpp): files, checks, options and their help follow from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "fovea/export.hpp"
#include "fovea/model/decoder_config.hpp"
#include "fovea/model/head_config.hpp"
#include "fovea/model/source_config.hpp"

namespace FOVEA_API fovea {

/// What a model is for: text to text, text to a label, turns of a dialogue to a reply, a picture to text, the beginning
/// of a text to the rest of it.
enum class Task { generate, classify, chat, caption, complete };

/// What a model is made of: source, encoder, head.
struct ModelConfig {
  SourceConfig source = TokenSourceConfig{};    // what it reads
  EncoderConfig encoder = TransformerConfig{};  // what turns that into the memory
  HeadConfig head = GeneratorConfig{};          // what reads the memory
  bool shared_vocabulary = false;               // one tokenizer for both sides
  std::string languages{};                      // "en-de"; may be empty

  /// The parts of a model by kind; a source of n-grams is one of tokens too. Throw UsageError when it is another kind.
  [[nodiscard]] TokenSourceConfig& tokens();
  /// The same of a constant model.
  [[nodiscard]] const TokenSourceConfig& tokens() const;
  /// The same of a source of pictures.
  [[nodiscard]] PictureSourceConfig& pictures();
  /// The same of a constant model.
  [[nodiscard]] const PictureSourceConfig& pictures() const;
  /// Whether it has a source of tokens.
  [[nodiscard]] bool reads_tokens() const;
  /// Width of what the source gives the encoder.
  [[nodiscard]] int source_width() const;
  /// The same of the head.
  [[nodiscard]] GeneratorConfig& generator();
  /// The same of a constant model.
  [[nodiscard]] const GeneratorConfig& generator() const;
  [[nodiscard]] ClassifierConfig& classifier();              // the same of a classifier
  [[nodiscard]] const ClassifierConfig& classifier() const;  // of a constant model

  /// What the parts are for; the kinds of source and head decide.
  [[nodiscard]] Task task() const;
  /// The most tokens, the end of sequence included, that it can read or write: those it has learned positions for.
  /// 0: any number.
  [[nodiscard]] std::int64_t longest_source() const;
  /// The same of what it writes.
  [[nodiscard]] std::int64_t longest_target() const;
  /// Whether its head attends to a memory.
  [[nodiscard]] bool attends() const;
  /// Whether a decoder's layers start from the last states of the encoder's.
  [[nodiscard]] bool layers_start() const;
  /// Layers and heads of the head's attention to the memory.
  [[nodiscard]] int attention_layers() const;
  /// The same of heads.
  [[nodiscard]] int attention_heads() const;
  /// Throws UsageError naming the field that is out of range or does not fit the others.
  void check() const;
};

/// The kind that a variant holds, as files and options spell it: "rnn", "cnn", "transformer".
template <class... Kinds>
[[nodiscard]] const char* kind_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.kind; }, config);
}
/// A config of the named kind with its defaults. Throws UsageError naming `what` and the possible kinds.
[[nodiscard]] EncoderConfig encoder_of_kind(std::string_view kind, std::string_view what);
/// The same for a decoder.
[[nodiscard]] DecoderConfig decoder_of_kind(std::string_view kind, std::string_view what);

/// Whether the encoder or the decoder is of the named kind.
[[nodiscard]] bool has_part(const ModelConfig& config, std::string_view kind);
/// Whether its head is a decoder that attends to a memory.
[[nodiscard]] bool writes_with_attention(const ModelConfig& config);
/// Whether its source is pictures.
[[nodiscard]] bool reads_pictures(const ModelConfig& config);
/// Whether its decoder reads one sampled region of a picture at a time.
[[nodiscard]] bool samples_regions(const ModelConfig& config);
/// Whether its head is a classifier that pools with several attentions.
[[nodiscard]] bool pools_hops(const ModelConfig& config);

/// The width of the states.
template <class... Kinds>
[[nodiscard]] int dim_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.dim; }, config);
}
/// The number of layers.
template <class... Kinds>
[[nodiscard]] int layers_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.layers; }, config);
}

/// A named starting point. Throws UsageError listing the names.
[[nodiscard]] ModelConfig preset(std::string_view name);
/// All names that preset() takes.
[[nodiscard]] std::span<const char* const> preset_names();

}  // namespace fovea
