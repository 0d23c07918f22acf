#include "interop/hugging_face.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "interop/files.hpp"

namespace fovea::interop {

namespace fs = std::filesystem;

HuggingFaceConfig::HuggingFaceConfig(const fs::path& file)
    : file_(file.string()), json_(std::make_unique<nlohmann::json>(parse_json(FileBytes::map(file).text(), file_))) {
  if (!json_->is_object()) throw FileError(file_ + ": not a JSON object");
}

HuggingFaceConfig::~HuggingFaceConfig() = default;

void HuggingFaceConfig::fail(const std::string& name, const std::string& what) const {
  throw FileError(fmt::format("{}: \"{}\": {}", file_, name, what));
}

bool HuggingFaceConfig::has(const std::string& name) const {
  return json_->contains(name) && !(*json_)[name].is_null();
}

int HuggingFaceConfig::integer(const std::string& name) const {
  if (!has(name)) fail(name, "is missing");
  const nlohmann::json& value = (*json_)[name];
  const double number = value.is_number_integer() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= std::numeric_limits<int>::max()))
    fail(name, value.dump() + " is not a whole number that fits");
  return static_cast<int>(number);
}

double HuggingFaceConfig::number(const std::string& name, double otherwise) const {
  if (!has(name)) return otherwise;
  if (!(*json_)[name].is_number()) fail(name, "is no number");
  return (*json_)[name].get<double>();
}

bool HuggingFaceConfig::flag(const std::string& name, bool otherwise) const {
  if (!has(name)) return otherwise;
  if (!(*json_)[name].is_boolean()) fail(name, "is neither true nor false");
  return (*json_)[name].get<bool>();
}

std::string HuggingFaceConfig::text(const std::string& name, const std::string& otherwise) const {
  if (!has(name)) return otherwise;
  if (!(*json_)[name].is_string()) fail(name, "is no text");
  return (*json_)[name].get<std::string>();
}

std::vector<std::int64_t> HuggingFaceConfig::single_ids(const std::string& name) const {
  std::vector<std::int64_t> ids;
  if (!has(name) || !(*json_)[name].is_array()) return ids;
  for (const auto& list : (*json_)[name]) {
    if (list.is_array() && list.size() == 1 && list[0].is_number_integer()) ids.push_back(list[0].get<std::int64_t>());
  }
  return ids;
}

ForeignTensors read_hugging_face_weights(const fs::path& folder) {
  if (fs::exists(folder / "model.safetensors")) return read_safetensors(FileBytes::map(folder / "model.safetensors"));
  if (fs::exists(folder / "pytorch_model.bin")) return read_torch(FileBytes::map(folder / "pytorch_model.bin"));
  for (const char* index : {"model.safetensors.index.json", "pytorch_model.bin.index.json"}) {
    if (fs::exists(folder / index)) {
      throw FileError(fmt::format("{}: weights in several files are not supported", (folder / index).string()));
    }
  }
  throw FileError(fmt::format("{}: there is neither model.safetensors nor pytorch_model.bin", folder.string()));
}

std::vector<std::string> read_token_ids(const fs::path& file, std::int64_t rows) {
  const auto json = parse_json(FileBytes::map(file).text(), file.string());
  if (!json.is_object()) throw FileError(file.string() + ": not a JSON object from tokens to ids");
  std::vector<std::string> tokens(json.size());
  std::vector<bool> there(json.size(), false);
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
        id.get<std::int64_t>() >= static_cast<std::int64_t>(json.size()) || there[id.get<std::size_t>()]) {
      throw FileError(
          fmt::format("{}: the id {} of {} is a duplicate or leaves a gap", file.string(), id.dump(), token));
    }
    tokens[id.get<std::size_t>()] = token;
    there[id.get<std::size_t>()] = true;
  }
  if (static_cast<std::int64_t>(tokens.size()) > rows) {
    throw FileError(fmt::format("{}: {} tokens, but the embeddings have {} rows", file.string(), tokens.size(), rows));
  }
  for (auto id = static_cast<std::int64_t>(tokens.size()); id < rows; ++id)
    tokens.push_back(fmt::format("<row {}>", id));
  return tokens;
}

}  // namespace fovea::interop
