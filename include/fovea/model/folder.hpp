// A model folder: config.json, model.safetensors and the tokenizers' files. It can be moved anywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/text.hpp"

namespace fovea {

/// The tokenizers of both sides; the same one twice when they share a vocabulary.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;  // the same one where the vocabulary is shared
};

/// What a folder holds once it is read and checked.
struct LoadedModel {
  ModelConfig config;     // as config.json has it
  Parameters parameters;  // sealed: exactly what the configuration asks for
  Tokenizers tokenizers;  // of both sides
};

/// Writes config.json and the tokenizers; makes the folder if need be. Throws FileError.
void write_model_config(const std::filesystem::path& folder, const ModelConfig& config, const Tokenizers& tokenizers);
/// Writes model.safetensors from one tensor per entry of `parameters`.
void write_model_weights(const std::filesystem::path& folder, const Parameters& parameters,
                         std::span<const Tensor> weights);

/// Throws FileError: a folder of another format version says what to do.
[[nodiscard]] ModelConfig read_model_config(const std::filesystem::path& folder);
/// The tokenizers of a model folder. Throws FileError naming what is wrong.
[[nodiscard]] Tokenizers read_tokenizers(const std::filesystem::path& folder, const ModelConfig& config);
/// What reads a line for the model's source: the tokenizer itself, or, of turns, one that takes them apart.
[[nodiscard]] std::shared_ptr<const Tokenizer> source_reader(const ModelConfig& config,
                                                             std::shared_ptr<const Tokenizer> tokenizer);
/// Throws FileError naming the file and what is missing, extra, or of another shape.
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& folder);

/// Makes, or takes from `parameters`, every weight that the model has. Throws as the models' constructors do.
void build_weights(const ModelConfig& config, Parameters& parameters);

}  // namespace fovea
