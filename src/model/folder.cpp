#include "fovea/model/folder.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/model/language_model.hpp"
#include "fovea/model/picture_model.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/model/text_classifier.hpp"
#include "fovea/nn/parameters_file.hpp"
#include "fovea/safetensors.hpp"
#include "model/config_json.hpp"
#include "text/tokenizer/turn_tokenizer.hpp"

namespace fovea {
namespace {

constexpr int kFormat = 2;  // of config.json
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kPartial = ".partial";  // a folder that is being filled

std::string task_of(const ModelConfig& config) {
  return std::string(enum_text(config.task()));
}

}  // namespace

void write_model_config(const std::filesystem::path& folder, const ModelConfig& config, const Tokenizers& tokenizers) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: the folder cannot be created: {}", folder.string(), error.message()));
  // Two tokenizers with the same ids may still split text differently. Only a source of tokens has a tokenizer.
  const bool one = config.shared_vocabulary && tokenizers.source == tokenizers.target;
  if (tokenizers.source) tokenizers.source->save(folder, one ? "shared" : "source");
  if (!one) tokenizers.target->save(folder, "target");
  for (const char* stale : {"shared.model", "shared.json"}) {
    if (!one) std::filesystem::remove(folder / stale, error);
  }
  const nlohmann::json json = {{"format", kFormat}, {"task", task_of(config)}, {"model", to_json(config)}};
  write_whole_file(folder / "config.json", json.dump(2) + "\n");
}

void write_model_weights(const std::filesystem::path& folder, const Parameters& parameters,
                         std::span<const Tensor> weights) {
  SafetensorsWriter writer;
  for (std::size_t i = 0; i < weights.size(); ++i) writer.add(parameters.entries()[i].name, weights[i]);
  writer.write(folder / kWeights);
}

ModelConfig read_model_config(const std::filesystem::path& folder) {
  const std::string file = (folder / "config.json").string();
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(fmt::format("{}: cannot be read; a model folder must hold this file", file));
  std::ostringstream text;
  text << in.rdbuf();
  const auto json = parse_json(text.str(), file);
  if (!json.is_object()) throw FileError(file + ": not a JSON object");
  const auto format = json.find("format");
  if (format == json.end() || !format->is_number_integer()) {
    throw FileError(file + ": \"format\" is missing; it must be the number of the format");
  }
  if (*format != kFormat) {
    throw FileError(fmt::format("{}: \"format\" is {}, this version of Fovea reads {}; {}", file, format->dump(),
                                kFormat, kOtherVersion));
  }
  const auto model = json.find("model");
  if (model == json.end()) throw FileError(fmt::format("{}: \"model\" is missing; {}", file, kOtherVersion));
  for (const auto& [name, value] : json.items()) {
    if (name == "format" || name == "task" || name == "model") continue;
    throw FileError(fmt::format("{}: \"{}\" is not known here; {}", file, name, kOtherVersion));
  }
  const ModelConfig config = model_config_from_json(*model, file);
  const auto task = json.find("task");
  if (task == json.end() || *task != task_of(config)) {
    throw FileError(fmt::format("{}: \"task\" must be \"{}\", as the model's parts are", file, task_of(config)));
  }
  return config;
}

Tokenizers read_tokenizers(const std::filesystem::path& folder, const ModelConfig& config) {
  Tokenizers t;
  const bool one = std::filesystem::exists(folder / "shared.model") || std::filesystem::exists(folder / "shared.json");
  const bool two = std::filesystem::exists(folder / "source.model") || std::filesystem::exists(folder / "source.json");
  if (config.shared_vocabulary && (one || !two)) {
    t.source = t.target = load_tokenizer(folder, "shared");
  } else {
    if (config.reads_tokens()) t.source = load_tokenizer(folder, "source");
    t.target = load_tokenizer(folder, "target");
  }
  const auto check = [&](const char* side, int wanted, std::int32_t there) {
    if (wanted != there) {
      throw FileError(
          fmt::format("{}: the {} tokenizer has {} tokens, config.json says {}", folder.string(), side, there, wanted));
    }
  };
  if (config.reads_tokens()) check("source", config.tokens().vocabulary, t.source->size());
  if (const auto* classifier = std::get_if<ClassifierConfig>(&config.head)) {
    check("label", classifier->labels + special_ids, t.target->size());
  } else {
    check("target", config.generator().vocabulary, t.target->size());
  }
  t.source = source_reader(config, t.source);
  return t;
}

std::shared_ptr<const Tokenizer> source_reader(const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer) {
  const auto* turns = std::get_if<TurnSourceConfig>(&config.source);
  return turns != nullptr ? text::turn_tokenizer(std::move(tokenizer), turns->max_turns) : tokenizer;
}

void build_weights(const ModelConfig& config, Parameters& parameters) {
  if (std::holds_alternative<PictureSourceConfig>(config.source)) {
    const PictureModel model(config, parameters);
  } else if (std::holds_alternative<NoSourceConfig>(config.source)) {
    const LanguageModel model(config, parameters);
  } else if (std::holds_alternative<ClassifierConfig>(config.head)) {
    const TextClassifier model(config, parameters);
  } else {
    const Seq2Seq model(config, parameters);
  }
}

void pack_weights(const ModelConfig& config, Parameters& parameters, const LoadOptions& how) {
  build_weights(config, parameters);  // registers which matrices layers multiply with
  const Storage type = how.type.value_or(parameters.stored());
  if (type != parameters.stored()) parameters.round(type);  // what a file holds is rounded already
  parameters.pack(type);
}

bool unfinished_model(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / kPartial) && !std::filesystem::exists(folder / kWeights);
}

// Written to a folder inside `to`, then moved with the weights last: whenever the process ends, `to` holds the old
// model, no model, or the new one.
void write_model(const std::filesystem::path& to, const ModelConfig& config, const Tokenizers& tokenizers,
                 const Parameters& parameters, Storage storage) {
  std::error_code error;
  const std::filesystem::path made = to / kPartial;
  std::filesystem::remove_all(made, error);
  try {
    write_model_config(made, config, tokenizers);
    save_parameters(parameters, made / kWeights, storage);
    std::filesystem::remove(to / kWeights);
    for (const auto& file : std::filesystem::directory_iterator(made)) {
      if (file.path().filename() != kWeights) std::filesystem::rename(file.path(), to / file.path().filename());
    }
    std::filesystem::rename(made / kWeights, to / kWeights);
    std::filesystem::remove_all(made, error);
  } catch (const std::filesystem::filesystem_error& failure) {
    std::filesystem::remove_all(made, error);
    throw FileError(fmt::format("{}: cannot be written: {}", to.string(), failure.code().message()));
  } catch (...) {
    std::filesystem::remove_all(made, error);
    throw;
  }
}

void quantize_model(const std::filesystem::path& folder, const std::filesystem::path& to, Storage storage) {
  const LoadedModel model = load_model(folder);
  std::error_code error;
  if (std::filesystem::equivalent(folder, to, error)) {
    throw UsageError("out", fmt::format("{} is the model itself; another folder is needed", to.string()));
  }
  if (std::filesystem::exists(to / "checkpoint.safetensors", error)) {
    throw UsageError("out", fmt::format("{} holds a training; another folder is needed", to.string()));
  }
  write_model(to, model.config, model.tokenizers, model.parameters, storage);
}

LoadedModel load_model(const std::filesystem::path& folder, const LoadOptions& how) {
  if (!std::filesystem::is_directory(folder)) throw FileError(folder.string() + ": there is no such model folder");
  return load_model(folder, read_model_config(folder), how);
}

LoadedModel load_model(const std::filesystem::path& folder, const ModelConfig& config, const LoadOptions& how) {
  const Tokenizers tokenizers = read_tokenizers(folder, config);
  const std::filesystem::path file = folder / kWeights;
  LoadedModel loaded{config, load_parameters(file, how.in_place), tokenizers, folder};
  try {
    build_weights(loaded.config, loaded.parameters);
  } catch (const Error& error) {
    throw FileError(fmt::format("{}: {}", file.string(), error.what()));
  }
  for (const auto& entry : loaded.parameters.entries()) {
    if (entry.use == Parameters::Use::none)
      throw FileError(fmt::format("{}: weight {} is not part of this model", file.string(), entry.name));
  }
  return loaded;
}

}  // namespace fovea
