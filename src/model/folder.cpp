#include "model/folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "model/seq2seq.hpp"

namespace fovea {
namespace {

constexpr int kFormat = 1;  // of config.json

}  // namespace

void write_model_config(const std::filesystem::path& folder, const ModelConfig& config, const Tokenizers& tokenizers) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
  tokenizers.source->save(folder, config.shared_vocabulary ? "shared" : "source");
  if (!config.shared_vocabulary) tokenizers.target->save(folder, "target");
  const nlohmann::json json = {{"format", kFormat}, {"task", "generate"}, {"model", to_json(config)}};
  write_whole_file(folder / "config.json", json.dump(2) + "\n");
}

void write_model_weights(const std::filesystem::path& folder, const Parameters& parameters,
                         std::span<const Tensor> weights) {
  SafetensorsWriter writer;
  for (std::size_t i = 0; i < weights.size(); ++i) writer.add(parameters.entries()[i].name, weights[i]);
  writer.write(folder / "model.safetensors");
}

ModelConfig read_model_config(const std::filesystem::path& folder) {
  const std::string file = (folder / "config.json").string();
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(fmt::format("{}: cannot be read; a model folder holds it", file));
  std::ostringstream text;
  text << in.rdbuf();
  const auto json = nlohmann::json::parse(text.str(), nullptr, false);
  if (!json.is_object()) throw FileError(file + ": not a JSON object");
  const auto format = json.find("format");
  if (format == json.end() || !format->is_number_integer() || *format != kFormat) {
    throw FileError(fmt::format("{}: \"format\" is not {}; another version of Fovea wrote it", file, kFormat));
  }
  const auto task = json.find("task");
  if (task == json.end() || *task != "generate") throw FileError(file + ": \"task\" is not \"generate\"");
  const auto model = json.find("model");
  if (model == json.end()) throw FileError(file + ": \"model\" is missing");
  return model_config_from_json(*model, file);
}

Tokenizers read_tokenizers(const std::filesystem::path& folder, const ModelConfig& config) {
  Tokenizers t;
  if (config.shared_vocabulary) {
    t.source = t.target = load_tokenizer(folder, "shared");
  } else {
    t.source = load_tokenizer(folder, "source");
    t.target = load_tokenizer(folder, "target");
  }
  const auto check = [&](const char* side, int wanted, std::int32_t there) {
    if (wanted != there) {
      throw FileError(
          fmt::format("{}: the {} tokenizer has {} tokens, config.json says {}", folder.string(), side, there, wanted));
    }
  };
  check("source", config.source_vocabulary, t.source->size());
  check("target", config.target_vocabulary, t.target->size());
  return t;
}

LoadedModel load_model(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw FileError(folder.string() + ": there is no such model folder");
  LoadedModel loaded{read_model_config(folder), Parameters(0), {}};
  loaded.tokenizers = read_tokenizers(folder, loaded.config);
  const std::filesystem::path file = folder / "model.safetensors";
  const Safetensors weights(file);
  for (const auto& entry : weights.entries()) {
    // Copies: a file that is written over while it is mapped would change, or end, under a running server.
    loaded.parameters.put(entry.name, weights.tensor(entry.name).clone());
  }
  loaded.parameters.seal();
  try {
    const Seq2Seq model(loaded.config, loaded.parameters);
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", file.string(), error.what()));
  }
  for (const auto& entry : loaded.parameters.entries()) {
    if (!entry.asked)
      throw FileError(fmt::format("{}: weight {} is not part of this model", file.string(), entry.name));
  }
  return loaded;
}

}  // namespace fovea
