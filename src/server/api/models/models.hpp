// The loaded models, by task and name.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fovea/generate_options.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/folder.hpp"
#include "server/api/batching/batcher.hpp"

namespace fovea::server {

/// A model to load, as in --model: "DIR" or "NAME=DIR". The name of a translation model is its languages, "en-de".
struct ModelPlace {
  std::filesystem::path folder;
  std::string name;  // empty: the languages in config.json, or the folder's name
  LoadOptions load = {};

  /// Throws UsageError.
  [[nodiscard]] static ModelPlace parse(const std::string& text);
  /// The given name, or the folder's.
  [[nodiscard]] std::string name_or_folder() const;
};

/// A model of any task, with the queue of its requests. Each task derives its model and how it runs a batch.
class Model : public BatchProcessor {
 public:
  Model(Task task, std::string name) : task_(task), name_(std::move(name)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] Task task() const { return task_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The description for clients and the page: name, task, example lines and the fields of the task.
  [[nodiscard]] nlohmann::json describe() const;
  /// Example lines, which training wrote into the model folder.
  void set_examples(std::vector<std::string> lines) { examples_ = std::move(lines); }

  /// Starts the threads.
  void open(int most_waiting, Metrics& metrics);
  /// Finishes all jobs; must be called before the destructor.
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

/// Whether requests with these options may share a batch: all options are the same, and no sampling. Samples depend
/// on a line's number in its batch.
[[nodiscard]] inline bool share_batch(const GenerateOptions& a, const GenerateOptions& b) {
  return !a.sample && a == b;
}

class TranslationModel;

class Models {
 public:
  /// Throws FileError for a folder that cannot be loaded, UsageError for two models of one name.
  Models(const std::vector<ModelPlace>& places, int most_waiting, Metrics& metrics);
  ~Models();
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Model>>& all() const { return all_; }
  /// The model of a task by name; an empty name means the first one. Throws Refusal 400 that lists the models.
  [[nodiscard]] const Model& find(Task task, const std::string& name) const;

  // Translation models, by their languages.
  /// In the order of --model.
  [[nodiscard]] const std::vector<const TranslationModel*>& translations() const { return translations_; }
  /// All source and target codes, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& codes() const { return codes_; }
  [[nodiscard]] std::vector<std::string> sources() const;
  [[nodiscard]] std::vector<std::string> targets_of(const std::string& source) const;

  /// The model for a pair, or null. A code that is not a language, such as "dates", matches every language that no
  /// other model has, since clients can only request languages.
  [[nodiscard]] const TranslationModel* translation(const std::string& source, const std::string& target) const;
  [[nodiscard]] bool knows_source(const std::string& code) const;
  [[nodiscard]] bool knows_target(const std::string& code) const;

  [[nodiscard]] int waiting() const;
  /// Answers all waiting jobs with an error.
  void abandon();
  /// Finishes all jobs and accepts no more.
  void close();

 private:
  void add(std::unique_ptr<Model> model, const ModelPlace& place);

  std::vector<std::unique_ptr<Model>> all_;
  std::vector<const TranslationModel*> translations_;
  std::vector<std::string> codes_;
};

}  // namespace fovea::server
