// Writes a training's log and passes everything on.
#pragma once

#include "fovea/training_job.hpp"
#include "tasks/training/progress/train_log.hpp"

namespace fovea {

/// Of the first process; the others have no log and show nothing.
class LoggingObserver final : public TrainObserver {
 public:
  LoggingObserver(TrainingObserver& next, TrainLog& log) : next_(next), log_(log) {}
  void reported(const TrainReport& report) override {
    log_.add(report);
    next_.reported(report);
  }
  void validated(const TrainState& state, const Validation& validation, bool best) override {
    log_.add(state, validation, best);
    next_.validated(state, validation, best);
  }
  void stepped(const TrainState& state, double progress) override { next_.stepped(state, progress); }

 private:
  TrainingObserver& next_;
  TrainLog& log_;
};

}  // namespace fovea
