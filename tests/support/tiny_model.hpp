// A model folder with random weights: it translates nonsense, but always the same.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/folder.hpp"
#include "model/seq2seq.hpp"

namespace fovea::test {

inline ModelConfig tiny_transformer() {
  ModelConfig config;
  config.layers = 2;
  config.dim = 16;
  config.ffn = 16;
  config.heads = 2;
  return config;
}

inline ModelConfig tiny_rnn() {
  ModelConfig config = preset("rnn-bahdanau");
  config.dim = config.embedding = 16;
  return config;
}

/// Words of `lines` on both sides. Another seed, other weights.
inline void write_tiny_model(const std::filesystem::path& folder, ModelConfig config, const std::string& languages,
                             std::uint64_t seed = 1) {
  const std::vector<std::string> lines{"one two three four five six seven", "eins zwei drei vier", "一 二 三",
                                       "<b> & < > \" ' . , ! ? 1 2 3"};
  Tokenizers tokenizers;
  tokenizers.source = tokenizers.target = train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer;
  config.source_vocabulary = config.target_vocabulary = tokenizers.source->size();
  config.languages = languages;
  Parameters parameters(seed);
  const Seq2Seq model(config, parameters);
  std::vector<Tensor> weights;
  for (const auto& entry : parameters.entries()) weights.push_back(entry.weight.value());
  write_model_config(folder, config, tokenizers);
  write_model_weights(folder, parameters, weights);
}

}  // namespace fovea::test
