// The training loop: batches, gradients, steps, checkpoints, validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/export.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/train/learner.hpp"
#include "fovea/train/options.hpp"

namespace FOVEA_API fovea {

/// The position of a training.
struct TrainState {
  std::int64_t step = 0;             // updates so far
  std::int64_t epoch = 0;            // counted from 0
  std::int64_t batch = 0;            // of the epoch: the next one
  double seconds = 0;                // trained so far
  std::int64_t tokens = 0;           // output tokens so far
  double best = 0;                   // validation's best score, higher is better
  bool has_best = false;             // whether there has been a validation
  int without_improvement = 0;       // validations since then
  int halvings = 0;                  // of the learning rate
  std::int64_t skipped = 0;          // steps whose loss or gradient was not finite: they changed no weight
  int skipped_in_a_row = 0;          // of them the last ones
  std::int64_t validated_step = -1;  // the last step that was validated
  bool finished = false;             // a limit was reached
  std::int64_t warmup = 0;           // steps of warm-up: the schedule's, or fewer to fit the limits
};

/// Since the last report.
struct TrainReport {
  TrainState state;              // at the report
  double loss = 0;               // per output token, with label smoothing and R-Drop
  double perplexity = 0;         // without
  double accuracy = 0;           // of single outputs, teacher-forced
  double rate = 0;               // learning rate
  double gradient_norm = 0;      // before clipping
  double tokens_per_second = 0;  // of the outputs
  double progress = 0;           // 0 to 1, by the limit that comes first; 0 when there is none
  int processes = 1;             // that train together
  double sum_share = 0;          // of the time of steps: how much the sum of gradients over processes added to it
};

/// What validation found.
struct Validation {
  double score = 0;                                       // higher is better
  double loss = 0;                                        // per output token
  std::vector<std::pair<std::string, double>> figures{};  // by name, for the log: bleu, accuracy
  std::string text{};                                     // a line to show: "loss 1.83  bleu 34.20"
};

/// Sees a training, on the training's thread.
class TrainObserver {
 public:
  TrainObserver() = default;
  virtual ~TrainObserver() = default;
  TrainObserver(const TrainObserver&) = delete;
  TrainObserver& operator=(const TrainObserver&) = delete;
  /// Every report_every steps.
  virtual void reported(const TrainReport&) {}
  /// After every validation.
  virtual void validated(const TrainState&, const Validation&, bool /*best*/) {}
  /// After every step; the progress by the same measure as TrainReport's.
  virtual void stepped(const TrainState&, double /*progress*/) {}
};

/// Called after every step; true writes a checkpoint and ends the training.
using StopRequest = std::function<bool()>;

/// What a training works with; everything that is referred to must outlive it.
struct TrainerOptions {
  Parameters& parameters;                   // trained in place
  const LearnerFactory& make_learner;       // a model on its own copy of the weights
  const TrainOptions& options;              // limits, rates and intervals
  const Examples& examples;                 // their sizes
  BatchPlan& plan;                          // the batches of each epoch
  TrainObserver& observer;                  // sees reports and validations
  std::filesystem::path checkpoint_file{};  // where the training is saved
  /// A JSON object that says what the training was given; a checkpoint made with another one is not continued.
  std::string fingerprint{};
  /// Validates the weights (of every entry, in order) that a checkpoint would be saved as.
  std::function<Validation(std::span<const Tensor> weights, const TrainState& state)> validate{};
  /// Saves weights that are the best so far.
  std::function<void(std::span<const Tensor> weights)> save_best{};
  /// May be empty.
  StopRequest stop{};
  /// Whether to continue from the checkpoint file, if there is one.
  bool resume = false;
};

/// The training loop: batches, gradients, checkpoints, validation. It knows no kind of model.
///
///     const Trainer::Result done = Trainer({.parameters = parameters, …}).run();
class Trainer {
 public:
  /// Why a training ended.
  enum class End { limit, patience, interrupted };
  /// How a training ended.
  struct Result {
    End end;           // why
    TrainState state;  // at the end
  };

  /// Throws UsageError naming the option that is out of range.
  explicit Trainer(TrainerOptions how);
  /// Trains until a limit is reached, validation no longer improves, or a stop is requested.
  Result run();

 private:
  TrainerOptions how_;
};

}  // namespace fovea
