// A model folder with random weights: it translates nonsense, but always the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"

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

}  // namespace fovea::test
