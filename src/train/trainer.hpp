// The training loop: batches, gradients, steps, checkpoints, validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "nn/parameters.hpp"
#include "train/checkpoint.hpp"
#include "train/micro_batch.hpp"
#include "train/options.hpp"

namespace fovea {

/// In which batches an epoch goes through the pairs; the same for the same epoch every time.
class BatchPlan {
 public:
  BatchPlan() = default;
  virtual ~BatchPlan() = default;
  BatchPlan(const BatchPlan&) = delete;
  BatchPlan& operator=(const BatchPlan&) = delete;
  [[nodiscard]] virtual std::int64_t batches(std::int64_t epoch) = 0;
  virtual void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) = 0;
};

/// Since the last report.
struct TrainReport {
  TrainState state;
  double loss = 0;        // per target token, with label smoothing and R-Drop
  double perplexity = 0;  // without
  double accuracy = 0;    // of single tokens, teacher-forced
  double rate = 0;
  double gradient_norm = 0;
  double tokens_per_second = 0;  // of the target
  double progress = 0;           // 0 to 1, by the limit that comes first; 0 when there is none
};

/// What validation found.
struct Validation {
  double score = 0;  // higher is better
  double loss = 0;   // per target token
  std::string text;  // for people: "bleu 34.20, loss 1.83"
};

/// Told while training goes on, on the training's thread.
class TrainObserver {
 public:
  TrainObserver() = default;
  virtual ~TrainObserver() = default;
  TrainObserver(const TrainObserver&) = delete;
  TrainObserver& operator=(const TrainObserver&) = delete;
  virtual void reported(const TrainReport& report) = 0;
  virtual void validated(const TrainState& state, const Validation& validation, bool best) = 0;
  /// Asked after every step; true writes a checkpoint and ends.
  [[nodiscard]] virtual bool wants_stop() = 0;
  /// Asked after every step; the progress by the same measure as TrainReport's.
  virtual void stepped(const TrainState& state, double progress) = 0;
};

struct Trainer {
  const ModelConfig& config;
  Parameters& parameters;  // trained in place
  const TrainOptions& options;
  const Pairs& pairs;
  BatchPlan& plan;
  TrainObserver& observer;
  std::filesystem::path checkpoint_file;
  std::string fingerprint;
  /// Judges the weights (of every entry, in order) that a checkpoint would be saved as.
  std::function<Validation(std::span<const Tensor> weights)> validate;
  /// Saves weights that are the best so far.
  std::function<void(std::span<const Tensor> weights, const TrainState& state)> save_best;

  enum class End { limit, patience, interrupted };
  /// Trains until a limit is reached, validation no longer improves, or the observer wants to stop. With `resume` goes
  /// on from the checkpoint file if there is one.
  End run(bool resume);
};

}  // namespace fovea
