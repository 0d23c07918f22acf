// The models that are loaded, by task and name.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fovea/model/config.hpp"
#include "fovea/model/folder.hpp"
#include "server/api/batching/batcher.hpp"

namespace fovea::server {

/// A model to load, as --model names it: "DIR", or "NAME=DIR". The name of a model that translates is its languages,
/// "en-de".
struct ModelPlace {
  std::filesystem::path folder;
  std::string name;  // empty: what the model's own configuration says, or the folder's name
  LoadOptions load = {};

  /// Throws UsageError.
  [[nodiscard]] static ModelPlace parse(const std::string& text);
  /// The name it was given, or the folder's own.
  [[nodiscard]] std::string name_or_folder() const;
};

/// A model of some task, and what waits for it. A task derives from it what the model is and how it works on a batch.
class Model : public BatchProcessor {
 public:
  Model(Task task, std::string name) : task_(task), name_(std::move(name)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] Task task() const { return task_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// What clients and the page should know of it: its name, its task, lines to try and what its task adds.
  [[nodiscard]] nlohmann::json describe() const;
  /// Lines to try, that its training has left in its folder.
  void set_examples(std::vector<std::string> lines) { examples_ = std::move(lines); }

  /// Begins to work.
  void open(int most_waiting, Metrics& metrics);
  /// Finishes all work; must come before the destructor.
  void close() const {
    if (batcher_) batcher_->close();
  }
  [[nodiscard]] Batcher& batcher() const { return *batcher_; }

 private:
  virtual void add_description(nlohmann::json& json) const = 0;

  const Task task_;
  const std::string name_;
  std::vector<std::string> examples_;
  std::unique_ptr<Batcher> batcher_;
};

class TranslationModel;

class Models {
 public:
  /// Throws FileError for a folder that cannot be loaded, UsageError for two models of one name.
  Models(const std::vector<ModelPlace>& places, int most_waiting, Metrics& metrics);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Model>>& all() const { return all_; }
  /// The model of a task with this name, or the first one of the task when the name is empty. Throws Refusal 400 that
  /// says what there is.
  [[nodiscard]] const Model& find(Task task, const std::string& name) const;

  // Those that translate, by their languages.
  /// In the order they were given.
  [[nodiscard]] const std::vector<const TranslationModel*>& translations() const { return translations_; }
  /// The codes that are a source or a target, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& codes() const { return codes_; }
  [[nodiscard]] std::vector<std::string> sources() const;
  [[nodiscard]] std::vector<std::string> targets_of(const std::string& source) const;

  /// The model for a pair, or null. A code of a model that names no language ("dates" or "iso": clients can only ask
  /// for languages) stands for every language that no other model has.
  [[nodiscard]] const TranslationModel* translation(const std::string& source, const std::string& target) const;
  [[nodiscard]] bool knows_source(const std::string& code) const;
  [[nodiscard]] bool knows_target(const std::string& code) const;

  [[nodiscard]] int waiting() const;
  /// Answers what waits, and has not begun, with an error.
  void abandon();
  /// Finishes all work; no more is taken.
  void close();

 private:
  void add(std::unique_ptr<Model> model, const ModelPlace& place);

  std::vector<std::unique_ptr<Model>> all_;
  std::vector<const TranslationModel*> translations_;
  std::vector<std::string> codes_;
};

}  // namespace fovea::server
