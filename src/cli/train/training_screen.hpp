// A training as the user of the command line sees it: a progress bar, lines, and Ctrl-C.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/io/progress.hpp"
#include "fovea/training_job.hpp"

namespace fovea::cli {

/// While it lives, an interrupt asks the training to end in good order; a second one ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Whether there was an interrupt since the last guard was made.
  [[nodiscard]] static bool interrupted();

 private:
  void (*before_int_)(int);
  void (*before_term_)(int);
};

/// Shows what a training reports.
class TrainingScreen final : public TrainingObserver {
 public:
  explicit TrainingScreen(const Streams& streams);

  void started(const std::vector<std::string>& notes) override;
  void stepped(const TrainState& state, double progress) override;
  void reported(const TrainReport& report) override;
  void validated(const TrainState& state, const Validation& validation, bool best) override;
  void samples(const std::vector<ValidationSample>& samples) override;
  void done() { bar_.clear(); }
  /// What the user should know of a training that has ended; empty when there is nothing.
  [[nodiscard]] std::string warning() const;

 private:
  std::ostream& out_;
  ProgressBar bar_;
  std::string last_;
  TrainState state_;
};

}  // namespace fovea::cli
