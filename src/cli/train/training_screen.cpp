#include "cli/train/training_screen.hpp"

#include <fmt/format.h>

#include <csignal>
#include <ostream>

namespace fovea::cli {
namespace {

volatile std::sig_atomic_t was_interrupted = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  was_interrupted = 0;
  const auto handler = [](int signal) {
    was_interrupted = 1;
    std::signal(signal, SIG_DFL);
  };
  before_int_ = std::signal(SIGINT, handler);
  before_term_ = std::signal(SIGTERM, handler);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, before_int_);
  std::signal(SIGTERM, before_term_);
}

TrainingScreen::TrainingScreen(const Streams& streams)
    : out_(streams.err), bar_(streams.err, streams.err_is_terminal) {}

void TrainingScreen::started(const std::vector<std::string>& notes) {
  for (const auto& note : notes) out_ << note << '\n';
  out_ << std::flush;
}

void TrainingScreen::stepped(const TrainState& state, double progress) {
  state_ = state;
  bar_.show(progress, state.seconds, fmt::format("step {}  {}", state.step, last_));
}

void TrainingScreen::reported(const TrainReport& r) {
  last_ = fmt::format("loss {:.3f}  ppl {:.2f}  {:.0f} tokens/s", r.loss, r.perplexity, r.tokens_per_second);
  const std::string skipped = r.state.skipped > 0 ? fmt::format("  {} steps skipped: not finite", r.state.skipped) : "";
  const std::string sum = r.processes > 1 ? fmt::format("  sum {:.0f}%", 100 * r.sum_share) : "";
  bar_.line(fmt::format("step {:>6}  epoch {:>3}  {}  rate {:.2e}  norm {:.2f}{}{}", r.state.step, r.state.epoch + 1,
                        last_, r.rate, r.gradient_norm, sum, skipped),
            r.progress, r.state.seconds);
}

void TrainingScreen::validated(const TrainState& state, const Validation& v, bool best) {
  bar_.print(fmt::format("step {:>6}  validation: {}{}", state.step, v.text, best ? "  (best)" : ""));
}

void TrainingScreen::samples(const std::vector<ValidationSample>& samples) {
  for (const auto& s : samples) {
    bar_.print(fmt::format("    source     {}\n    reference  {}\n    output     {}", s.source, s.reference, s.output));
  }
}

bool InterruptGuard::interrupted() {
  return was_interrupted != 0;
}

std::string TrainingScreen::warning() const {
  if (state_.step == 0 || state_.step >= state_.warmup) return {};
  return fmt::format(
      "warning: the training ended during its warm-up, after {} of {} steps, before the learning rate reached its "
      "largest "
      "value; train longer, or give a smaller --warmup\n",
      state_.step, state_.warmup);
}

}  // namespace fovea::cli
