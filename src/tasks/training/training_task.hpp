// What a task brings to a training; everything else is the same for all of them.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "tasks/training/report.hpp"
#include "train/workers.hpp"

namespace fovea {

/// Examples, and models that give the loss of some of them. What both refer to belongs to the task.
struct ExampleSet {
  const Examples& examples;
  std::int64_t count;
  LearnerFactory learners;
};

/// Reads its files when it is made. A training then calls the rest in this order. `notes` get what a user should know,
/// warnings included.
class TrainingTask {
 public:
  TrainingTask() = default;
  virtual ~TrainingTask() = default;
  TrainingTask(const TrainingTask&) = delete;
  TrainingTask& operator=(const TrainingTask&) = delete;

  /// Trains tokenizers, or loads the one that the job names, and enters the sizes of their vocabularies in the job's
  /// config. Not called when a training goes on.
  [[nodiscard]] virtual Tokenizers make_tokenizers(std::vector<std::string>& notes) = 0;
  /// Makes examples of the lines, and chooses settings by them. The tokenizers outlive the task's use.
  virtual void encode(const Tokenizers& tokenizers, bool resumes, std::vector<std::string>& notes) = 0;
  /// Makes the weights.
  virtual void build_model(bool resumes, std::vector<std::string>& notes) = 0;
  /// Adds what the examples and the task's own options are known by.
  virtual void add_identity(nlohmann::json& fingerprint) const = 0;
  /// The model folder is the training's own from here on.
  virtual void begin() {}

  [[nodiscard]] virtual BatchPlan& plan() = 0;  // the batches of the examples to train on
  [[nodiscard]] virtual ExampleSet training_set() const = 0;
  [[nodiscard]] virtual ExampleSet validation_set() const = 0;
  /// What a model with these weights makes of validation lines: a few to show, and figures and a score for `v`, which
  /// has the loss already. `totals` are of the whole validation set.
  [[nodiscard]] virtual std::vector<ValidationSample> outputs(const Parameters& weights, const BatchTotals& totals,
                                                              Validation& v) const = 0;
  /// What the finished model makes of a few lines, with attention.
  [[nodiscard]] virtual std::vector<ReportedLine> report_lines() const = 0;
  /// After the last step.
  virtual void finish(Trainer::End /*end*/) {}
};

/// Of the kind that the job names. Both must outlive it.
[[nodiscard]] std::unique_ptr<TrainingTask> make_training_task(TrainingJob& job, Parameters& parameters,
                                                               std::vector<std::string>& notes);

}  // namespace fovea
