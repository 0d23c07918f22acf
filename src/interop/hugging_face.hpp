// What the folders of Hugging Face's Transformers have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "interop/foreign_tensors.hpp"

namespace fovea::interop {

/// config.json. A field that is missing or of another type is a FileError that names it.
class HuggingFaceConfig {
 public:
  explicit HuggingFaceConfig(const std::filesystem::path& file);
  ~HuggingFaceConfig();
  HuggingFaceConfig(const HuggingFaceConfig&) = delete;
  HuggingFaceConfig& operator=(const HuggingFaceConfig&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool has(const std::string& name) const;  // and not null
  [[nodiscard]] int integer(const std::string& name) const;
  [[nodiscard]] int integer(const std::string& name, int otherwise) const {
    return has(name) ? integer(name) : otherwise;
  }
  [[nodiscard]] double number(const std::string& name, double otherwise) const;
  [[nodiscard]] bool flag(const std::string& name, bool otherwise) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
  /// The ids of the lists of one id, in a list of lists.
  [[nodiscard]] std::vector<std::int64_t> single_ids(const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

 private:
  std::string file_;
  std::unique_ptr<nlohmann::json> json_;
};

/// model.safetensors, or else pytorch_model.bin.
[[nodiscard]] ForeignTensors read_hugging_face_weights(const std::filesystem::path& folder);

/// A JSON object from token to id, as the tokens by id: each from 0 on has to be there once. Embeddings of more rows
/// than tokens are filled up; rows without a token are called <row N>.
[[nodiscard]] std::vector<std::string> read_token_ids(const std::filesystem::path& file, std::int64_t rows);

}  // namespace fovea::interop
