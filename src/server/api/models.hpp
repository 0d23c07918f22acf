// The models that are loaded, by the languages they translate.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/api/batcher.hpp"
#include "server/api/passage.hpp"

namespace fovea::server {

/// A model to load, as --model names it: "DIR" or "en-de=DIR".
struct ModelPlace {
  std::filesystem::path folder;
  std::string source, target;  // empty: what the model's own configuration says

  /// Throws UsageError.
  [[nodiscard]] static ModelPlace parse(const std::string& text);
};

struct Model {
  std::string name;  // "en-de"
  std::string source, target;
  std::shared_ptr<const Translator> translator;
  std::unique_ptr<Batcher> batcher;
  std::size_t longest = 0;      // characters of a line: what is longer is cut
  std::size_t most_tokens = 0;  // of a line: what has more, as with a tokenizer that falls back to bytes, is cut too

  /// How long a line may be.
  [[nodiscard]] LineLimit reads() const;

  [[nodiscard]] int layers() const;  // of the decoder's attention; 0: it has none
  [[nodiscard]] int heads() const;
};

class Models {
 public:
  /// Throws FileError for a folder that cannot be loaded, UsageError for two models of one pair.
  Models(const std::vector<ModelPlace>& places, int most_waiting, Metrics& metrics);

  [[nodiscard]] const std::vector<Model>& all() const { return all_; }
  /// The codes that are a source or a target, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& codes() const { return codes_; }
  [[nodiscard]] std::vector<std::string> sources() const;
  [[nodiscard]] std::vector<std::string> targets_of(const std::string& source) const;

  /// The model for a pair, or null. A code of a model that names no language ("dates" or "iso": clients can only ask
  /// for languages) stands for every language that no other model has.
  [[nodiscard]] const Model* find(const std::string& source, const std::string& target) const;
  [[nodiscard]] bool knows_source(const std::string& code) const;
  [[nodiscard]] bool knows_target(const std::string& code) const;

  [[nodiscard]] int waiting() const;
  /// Answers what waits, and has not begun, with an error.
  void abandon();
  /// Finishes all work; no more is taken.
  void close();

 private:
  std::vector<Model> all_;
  std::vector<std::string> codes_;
};

}  // namespace fovea::server
