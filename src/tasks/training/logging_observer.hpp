// Writes a training's log and passes everything on.
#pragma once

#include <cstdint>
#include <optional>

#include "fovea/training_job.hpp"
#include "tasks/training/train_log.hpp"

namespace fovea {

/// Of several processes the first one has a log and shows what happens; each of the others only says when it shall
/// stop.
class LoggingObserver final : public TrainObserver {
 public:
  /// `log` may be null.
  LoggingObserver(TrainingObserver& next, TrainLog* log) : next_(next), log_(log) {}
  void reported(const TrainReport& report) override {
    if (log_ == nullptr) return;
    log_->add(report);
    next_.reported(report);
  }
  void validated(const TrainState& state, const Validation& validation, bool best) override {
    if (log_ == nullptr) return;
    log_->add(state, validation, best);
    next_.validated(state, validation, best);
  }
  void stepped(const TrainState& state, double progress) override {
    step_ = state.step;
    warmup_ = state.warmup;
    if (log_ != nullptr) next_.stepped(state, progress);
  }
  bool wants_stop() override { return next_.wants_stop(); }
  [[nodiscard]] std::int64_t step() const { return step_; }  // the last one
  /// Steps of warm-up as they were fitted to the limits; nothing before the first step.
  [[nodiscard]] std::optional<std::int64_t> warmup() const { return warmup_; }

 private:
  TrainingObserver& next_;
  TrainLog* log_;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> warmup_;
};

}  // namespace fovea
