// A model folder with random weights: it translates nonsense, but always the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/model/text_classifier.hpp"

namespace fovea::test {

inline ModelConfig tiny_transformer() {
  const TransformerConfig part{.layers = 2, .dim = 16, .ffn = 16, .heads = 2};
  ModelConfig config;
  config.encoder = part;
  config.generator().decoder = part;
  config.tokens().embedding = config.generator().embedding = part.dim;
  return config;
}

inline ModelConfig tiny_rnn() {
  ModelConfig config = preset("rnn-bahdanau");
  std::get<RnnEncoderConfig>(config.encoder).dim = 16;
  std::get<RnnDecoderConfig>(config.generator().decoder).dim = 16;
  config.tokens().embedding = config.generator().embedding = 16;
  return config;
}

/// Words of `lines` on both sides. Another seed, other weights.
inline void write_tiny_model(const std::filesystem::path& folder, ModelConfig config, const std::string& languages,
                             std::uint64_t seed = 1) {
  const std::vector<std::string> lines{"one two three four five six seven", "eins zwei drei vier", "一 二 三",
                                       "<b> & < > \" ' . , ! ? 1 2 3"};
  Tokenizers tokenizers;
  tokenizers.source = tokenizers.target = train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer;
  config.tokens().vocabulary = config.generator().vocabulary = tokenizers.source->size();
  config.languages = languages;
  Parameters parameters(seed);
  const Seq2Seq model(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(folder, config, tokenizers);
  write_model_weights(folder, parameters, weights);
}

/// A model of conversations in the same words.
inline void write_tiny_chat(const std::filesystem::path& folder, Turns turns = Turns::flat) {
  ModelConfig config = tiny_transformer();
  TurnSourceConfig source;
  static_cast<TokenSourceConfig&>(source) = config.tokens();
  source.turns = turns;
  source.max_turns = 3;
  config.source = source;
  write_tiny_model(folder, config, "");
}

/// A classifier of the same words with three labels.
inline void write_tiny_classifier(const std::filesystem::path& folder, Pooling pooling = Pooling::context,
                                  std::uint64_t seed = 1) {
  const std::vector<std::string> lines{"one two three four five six seven"};
  const std::vector<std::string> labels{"red green blue"};
  Tokenizers tokenizers{train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer,
                        train_tokenizer(labels, {.kind = TokenizerKind::word}).tokenizer};
  ModelConfig config;
  config.encoder = RnnEncoderConfig{.dim = 8};
  config.tokens().embedding = 8;
  config.tokens().vocabulary = tokenizers.source->size();
  config.head = ClassifierConfig{.pooling = pooling, .labels = 3, .hidden = 8};
  Parameters parameters(seed);
  const TextClassifier model(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(folder, config, tokenizers);
  write_model_weights(folder, parameters, weights);
}

/// A model of pictures of 32x32 pixels that writes the same words.
inline void write_tiny_captioner(const std::filesystem::path& folder, std::uint64_t seed = 1,
                                 RnnAttention attention = RnnAttention::additive) {
  const std::vector<std::string> lines{"one two three four five six seven"};
  const Tokenizers tokenizers{nullptr, train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer};
  ModelConfig config;
  config.source = PictureSourceConfig{.picture_size = 32, .picture_channels = 16, .embedding = 8};
  config.encoder = NoEncoderConfig{.dim = 8};
  config.generator() = {.decoder = RnnDecoderConfig{.dim = 8, .attention = attention},
                        .vocabulary = tokenizers.target->size(),
                        .embedding = 8};
  Parameters parameters(seed);
  build_weights(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(folder, config, tokenizers);
  write_model_weights(folder, parameters, weights);
}

}  // namespace fovea::test
