// The folder that a training leaves its model in.
#pragma once

#include <filesystem>
#include <optional>

#include "base/folder_lock.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"

namespace fovea {

class JobFolder {
 public:
  /// Throws UsageError when the folder holds a model and the job says neither `resume` nor `overwrite`, or what is
  /// needed to resume is not there; when another training is at work in the folder, naming its process. Of several
  /// processes that work on one job only the first one locks and writes.
  explicit JobFolder(const TrainingJob& job);

  [[nodiscard]] bool resumes() const { return resumes_; }
  [[nodiscard]] std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log.jsonl"; }
  [[nodiscard]] std::filesystem::path report() const { return folder_ / "report.html"; }
  [[nodiscard]] bool has_model() const { return std::filesystem::exists(folder_ / "model.safetensors"); }

  /// The configuration that the training in the folder was begun with. Throws UsageError when the job's differs in
  /// anything but the vocabularies, and the size where it is automatic, naming the first difference.
  [[nodiscard]] ModelConfig resumed_config(const TrainingJob& job) const;
  /// Removes a model that was there before and writes what describes the new one, unless it resumes.
  void begin(const ModelConfig& config, const Tokenizers& tokenizers) const;

 private:
  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;
  bool resumes_ = false;
};

}  // namespace fovea
