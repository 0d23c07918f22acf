// Validation: how good weights are on the validation lines.
#pragma once

#include <span>

#include "fovea/training_job.hpp"
#include "tasks/training/training_task.hpp"

namespace fovea {

/// The loss on the validation set, and what the task's model makes of its lines. What it is given must outlive it.
class Validator {
 public:
  Validator(const TrainingJob& job, const TrainingTask& task, const Parameters& parameters, TrainingObserver& observer)
      : job_(job), task_(task), parameters_(parameters), observer_(observer) {}

  /// One tensor for each entry of the parameters.
  [[nodiscard]] Validation operator()(std::span<const Tensor> weights) const;

 private:
  const TrainingJob& job_;
  const TrainingTask& task_;
  const Parameters& parameters_;
  TrainingObserver& observer_;
};

}  // namespace fovea
