// What a task brings to a training; everything else is the same for all of them.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/training_job.hpp"
#include "tasks/training/progress/report.hpp"
#include "train/workers.hpp"

namespace fovea {

/// Examples, and models that give the loss of some of them. What both refer to belongs to the task.
struct ExampleSet {
  const Examples& examples;
  std::int64_t count;
  LearnerFactory learners;
};

/// What the folder of a training that is resumed holds.
struct ResumedModel {
  ModelConfig config;
  Tokenizers tokenizers;
};

/// What a task decides by its files.
struct TaskDecisions {
  TrainingJob job;  // with the sizes of vocabularies, and what is chosen from the corpus size
  Tokenizers tokenizers;
  std::vector<std::string> notes{};  // what a user should know, warnings included
};

/// Reads its files when it is made. A training then calls the rest in this order.
class TrainingTask {
 public:
  TrainingTask() = default;
  virtual ~TrainingTask() = default;
  TrainingTask(const TrainingTask&) = delete;
  TrainingTask& operator=(const TrainingTask&) = delete;

  /// Makes examples of the lines. Trains the tokenizers, or loads the one that the job names, unless a model is resumed
  /// (else null).
  [[nodiscard]] virtual TaskDecisions decide(const ResumedModel* resumed) = 0;
  /// Makes the weights; returns notes for the user.
  [[nodiscard]] virtual std::vector<std::string> build_model(bool resumes) = 0;
  /// What the examples and the task's own options are known by, as a JSON object.
  [[nodiscard]] virtual nlohmann::json identity() const = 0;
  /// Called when the model folder is the training's own.
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
  /// Called after the last step.
  virtual void finish(Trainer::End /*end*/) {}
};

/// Of the kind that the job names. `parameters` must outlive it.
[[nodiscard]] std::unique_ptr<TrainingTask> make_training_task(const TrainingJob& job, Parameters& parameters);

}  // namespace fovea
