#include "tasks/training/job/job_folder.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/processes.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "model/config_json.hpp"
#include "tasks/training/job/settings.hpp"

namespace fovea {
namespace {

// Of two configurations, as "encoder.dim 16, not 32"; empty when they are the same.
std::string first_difference(const nlohmann::json& before, const nlohmann::json& now, const std::string& path) {
  for (const auto& [name, value] : now.items()) {
    const nlohmann::json was = before.value(name, nlohmann::json());
    if (was == value) continue;
    if (was.is_object() && value.is_object()) {
      const std::string inner = first_difference(was, value, path + name + ".");
      if (!inner.empty()) return inner;
    }
    return fmt::format("{}{} {}, not {}", path, name, was.is_null() ? "nothing" : was.dump(), value.dump());
  }
  return {};
}

}  // namespace

JobFolder::JobFolder(const TrainingJob& job) : folder_(job.model) {
  if (job.model.empty()) throw UsageError("model", "a folder to leave the model in is needed");
  if (job.resume && job.overwrite)
    throw UsageError("overwrite", "starts again, and resume continues; give one of them");
  if (processes().first()) lock_.emplace(folder_);
  const bool described = std::filesystem::exists(folder_ / "config.json");
  const bool holds = described || std::filesystem::exists(checkpoint()) || has_model();
  if (job.resume && holds && !described) {
    throw UsageError("resume", fmt::format("{} has lost its config.json; overwrite starts again", folder_.string()));
  }
  resumes_ = job.resume && described;
  if (resumes_ && !std::filesystem::exists(checkpoint()) && has_model()) {
    throw UsageError(
        "resume",
        fmt::format("{} holds a model but no checkpoint to continue from; overwrite starts again", folder_.string()));
  }
  if (!job.resume && !job.overwrite && holds) {
    throw UsageError(
        "model", fmt::format("{} holds a model; resume continues with it, overwrite starts again", folder_.string()));
  }
}

ModelConfig JobFolder::resumed_config(const TrainingJob& job) const {
  const ModelConfig before = read_model_config(folder_);
  ModelConfig config = job.config;
  if (job.automatic.size) set_size(config, size_of(before));
  config.shared_vocabulary = before.shared_vocabulary;
  if (!std::holds_alternative<PictureSourceConfig>(config.source) &&
      !std::holds_alternative<PictureSourceConfig>(before.source)) {
    config.tokens().vocabulary = before.tokens().vocabulary;
  }
  if (auto* classifier = std::get_if<ClassifierConfig>(&config.head)) {
    classifier->labels = before.classifier().labels;
  } else {
    config.generator().vocabulary = before.generator().vocabulary;
  }
  const std::string other = first_difference(to_json(before), to_json(config), "");
  if (!other.empty()) {
    throw UsageError("resume", fmt::format("{} has {}; the same model options as before are needed, or overwrite",
                                           (folder_ / "config.json").string(), other));
  }
  return config;
}

void JobFolder::begin(const ModelConfig& config, const Tokenizers& tokenizers) const {
  wait_for_all(processes());  // until then the others may read what was there before
  if (!processes().first()) return;
  if (!resumes_) {
    std::error_code ignored;
    std::filesystem::remove(checkpoint(), ignored);
    std::filesystem::remove(folder_ / "model.safetensors", ignored);
    write_model_config(folder_, config, tokenizers);
  }
  remove_leftovers(folder_);
}

}  // namespace fovea
