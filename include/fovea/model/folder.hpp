// A model folder: config.json, model.safetensors and the tokenizers' files. It can be moved anywhere.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/text.hpp"

namespace FOVEA_API fovea {

/// The tokenizers of both sides; the same one twice when they share a vocabulary.
struct Tokenizers {
  std::shared_ptr<const Tokenizer> source, target;  // the same one where the vocabulary is shared
};

/// The checked contents of a model folder.
struct LoadedModel {
  ModelConfig config;              // as config.json has it
  Parameters parameters;           // sealed: exactly the weights of the configuration
  Tokenizers tokenizers;           // of both sides
  std::filesystem::path folder{};  // where it came from
};

/// Writes config.json and the tokenizers; makes the folder if need be. Throws FileError.
void write_model_config(const std::filesystem::path& folder, const ModelConfig& config, const Tokenizers& tokenizers);
/// Writes model.safetensors from one tensor per entry of `parameters`.
void write_model_weights(const std::filesystem::path& folder, const Parameters& parameters,
                         std::span<const Tensor> weights);
/// Writes a whole model folder, the weights last: a folder without them is not a model. Throws FileError, or Error
/// naming a weight that does not fit `storage`.
void write_model(const std::filesystem::path& to, const ModelConfig& config, const Tokenizers& tokenizers,
                 const Parameters& parameters, Storage storage = Storage::f32);
/// Whether the folder holds a partly written model.
[[nodiscard]] bool unfinished_model(const std::filesystem::path& folder);
/// Copies a model folder with its weights rounded: the same config.json and tokenizers, a smaller model.safetensors.
/// Throws as write_model().
void quantize_model(const std::filesystem::path& folder, const std::filesystem::path& to, Storage storage);

/// Throws FileError: a folder of another format version says what to do.
[[nodiscard]] ModelConfig read_model_config(const std::filesystem::path& folder);
/// The tokenizers of a model folder. Throws FileError naming what is wrong.
[[nodiscard]] Tokenizers read_tokenizers(const std::filesystem::path& folder, const ModelConfig& config);
/// The tokenizer of the model's source: the tokenizer itself, or for turns one that splits them.
[[nodiscard]] std::shared_ptr<const Tokenizer> source_reader(const ModelConfig& config,
                                                             std::shared_ptr<const Tokenizer> tokenizer);

/// How a model is loaded for use.
struct LoadOptions {
  std::optional<Storage> type = {};  // of its matrices; none: as in the file
  bool in_place = false;             // use the weights where their file is mapped: see load_parameters()
  bool shortlist = false;            // choose only among the folder's shortlist (fovea shortlist)
};

/// Makes weights ready for inference: rounds them and packs what layers multiply with. Models built from them, or from
/// replicas of them, use the packed form. Throws Error naming a weight that does not fit.
void pack_weights(const ModelConfig& config, Parameters& parameters, const LoadOptions& how = {});

/// Throws FileError naming the file and the weight that is missing, extra, or of another shape.
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& folder, const LoadOptions& how = {});
/// The same of a folder whose config.json was read already.
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& folder, const ModelConfig& config,
                                     const LoadOptions& how = {});

/// Builds the model once, so that `parameters` has every weight. Throws as the models' constructors do.
void build_weights(const ModelConfig& config, Parameters& parameters);

}  // namespace fovea
