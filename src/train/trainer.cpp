#include "fovea/train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/processes.hpp"
#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "fovea/train/adam.hpp"
#include "train/checkpoint.hpp"
#include "train/workers.hpp"

namespace fovea {
namespace {

constexpr int kMostSkipped = 5;  // steps in a row

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<Tensor> copies(const Parameters& parameters) {
  std::vector<Tensor> out;
  for (const auto& entry : parameters.entries()) out.push_back(entry.weight.value().clone());
  return out;
}

// After this number of steps the speed is known well enough to compute how many steps a limit of time allows.
constexpr std::int64_t kPaceSteps = 10;

class Run {
 public:
  explicit Run(const TrainerOptions& how)
      : t_(how),
        workers_(how.make_learner, how.parameters, how.options.replica_count(), processes_),
        adam_(how.parameters, how.options.adam, workers_.rows()) {}

  [[nodiscard]] const TrainState& state() const { return state_; }

  Trainer::End run() {
    if (t_.resume && std::filesystem::exists(t_.checkpoint_file)) restore();
    if (state_.finished) return out_of_patience() ? Trainer::End::patience : Trainer::End::limit;
    fit_warmup();
    fit_last_step();
    // So that a folder that holds a model of this training always holds a checkpoint too.
    if (state_.step == 0) save();
    const std::int64_t first = state_.step;
    const double before = state_.seconds;
    const Clock::time_point start = Clock::now();
    for (;;) {
      if (over()) return finish(Trainer::End::limit);
      const Clock::time_point step_start = Clock::now();
      if (!step()) return interrupt();
      working_seconds_ += seconds_since(step_start);
      state_.seconds = before + seconds_since(start);
      t_.observer.stepped(state_, progress());
      const bool stop = agree();
      if (state_.step == kPaceSteps) {
        fit_warmup_to_minutes((state_.seconds - before) / static_cast<double>(kPaceSteps - first));
      }
      if (state_.step % t_.options.report_every == 0) report();
      if (state_.step % t_.options.checkpoint_every == 0) {
        recent_ = with_now();
        state_ = validate(recent_);
        state_.seconds = before + seconds_since(start);
        save();
        if (out_of_patience()) return finish(Trainer::End::patience);
      }
      if (stop) return interrupt();
    }
  }

 private:
  // Whether to stop, and how long it has taken: what one process finds, all do.
  bool agree() {
    const bool stop = t_.stop && t_.stop();
    if (processes_.alone()) return stop;
    const std::vector<std::string> all = gather(processes_, fmt::format("{}{:a}", stop ? 1 : 0, state_.seconds));
    state_.seconds = std::strtod(all[0].c_str() + 1, nullptr);
    return std::any_of(all.begin(), all.end(), [](const std::string& one) { return one[0] == '1'; });
  }

  Trainer::End interrupt() {
    if (saved_step_ != state_.step) save();
    return Trainer::End::interrupted;
  }

  // False when it was interrupted between two batches of a step: nothing has changed then.
  bool step() {
    const TrainOptions& o = t_.options;
    const TrainState before = state_;
    BatchTotals totals;
    for (int part = 0; part < o.accumulate; ++part) {
      if (part > 0 && agree()) {
        workers_.clear_gradients();
        state_ = before;
        return false;
      }
      while (state_.batch >= t_.plan.batches(state_.epoch)) {
        ++state_.epoch;
        state_.batch = 0;
      }
      t_.plan.batch(state_.epoch, state_.batch++, batch_);
      const std::uint64_t seed = mix64(o.seed ^ mix64(static_cast<std::uint64_t>(state_.step * o.accumulate + part)));
      const BatchTotals cost =
          workers_.run(t_.examples, batch_, o.micro_tokens, {o.dropout, o.attention_dropout, o.inner_dropout},
                       o.loss_at(state_.step, progress()), seed, part + 1 == o.accumulate);
      totals.loss += cost.loss;
      totals.nll += cost.nll;
      totals.outputs += cost.outputs;
      totals.correct += cost.correct;
    }
    ++state_.step;
    Schedule schedule = o.schedule;
    schedule.warmup = state_.warmup;
    rate_ = o.adam.rate * schedule.share(state_.step, last_step_, state_.halvings);
    const double scale = 1.0 / static_cast<double>(std::max<std::int64_t>(1, totals.outputs));
    norm_ = adam_.norm(scale);
    if (!std::isfinite(totals.loss) || !std::isfinite(norm_)) {
      skip(before, totals.loss);
      return true;
    }
    state_.skipped_in_a_row = 0;
    state_.tokens += totals.outputs;
    adam_.update(rate_, scale, norm_);
    sums_.loss += totals.loss;
    sums_.nll += totals.nll;
    sums_.outputs += totals.outputs;
    sums_.correct += totals.correct;
    return true;
  }

  // A weight that is not a number never becomes one again, so such gradients are not used. One bad batch is no reason
  // to end a training; several in a row are.
  void skip(const TrainState& before, double loss) {
    ++state_.skipped;
    if (++state_.skipped_in_a_row >= kMostSkipped) {
      throw Error(
          fmt::format("step {}: the loss is {} and the norm of the gradient {}, as in the {} steps before it (epoch "
                      "{}, batch {}, {}); "
                      "a learning-rate smaller than {}, or a smaller clip, may help",
                      state_.step, loss, norm_, kMostSkipped - 1, before.epoch + 1, before.batch, not_finite(),
                      t_.options.adam.rate));
    }
    workers_.clear_gradients();
  }

  // The first weight that is not finite, or whose gradient is not.
  [[nodiscard]] std::string not_finite() const {
    const auto bad = [](const Tensor& t) {
      return std::any_of(t.values().begin(), t.values().end(), [](float v) { return !std::isfinite(v); });
    };
    for (const auto& entry : t_.parameters.entries()) {
      if (bad(entry.weight.value())) return entry.name + " is not finite";
    }
    for (const auto& entry : t_.parameters.entries()) {
      if (bad(entry.weight.grad())) return "the gradient of " + entry.name + " is not finite";
    }
    return "every gradient is finite";
  }

  // At most the share of the training that the options allow. A resumed training keeps the warm-up that it began with.
  void fit_warmup() {
    const TrainOptions& o = t_.options;
    if (state_.step > 0 && state_.warmup > 0 && o.warmup_share > 0) return;
    state_.warmup = o.schedule.warmup;
    if (o.max_steps > 0) shorten_warmup(static_cast<double>(o.max_steps));
    if (o.max_epochs > 0) shorten_warmup(static_cast<double>(o.max_epochs * t_.plan.batches(0)) / o.accumulate);
  }

  // Where a schedule that falls to 0 ends: the nearer of the limits of steps and of epochs.
  void fit_last_step() {
    const TrainOptions& o = t_.options;
    last_step_ = o.max_steps;
    if (!o.schedule.ends() || o.max_epochs == 0) return;
    const std::int64_t steps = std::max<std::int64_t>(1, o.max_epochs * t_.plan.batches(0) / o.accumulate);
    if (last_step_ == 0 || steps < last_step_) last_step_ = steps;
  }

  void fit_warmup_to_minutes(double seconds_per_step) {
    if (t_.options.max_minutes > 0) shorten_warmup(60 * t_.options.max_minutes / std::max(1e-9, seconds_per_step));
  }

  void shorten_warmup(double steps) {
    if (t_.options.warmup_share <= 0) return;
    const double most = std::max(1.0, t_.options.warmup_share * steps);
    if (most < static_cast<double>(state_.warmup)) state_.warmup = static_cast<std::int64_t>(most);
  }

  [[nodiscard]] double progress() const {
    const TrainOptions& o = t_.options;
    double done = 0;
    if (o.max_steps > 0) done = std::max(done, static_cast<double>(state_.step) / static_cast<double>(o.max_steps));
    if (o.max_minutes > 0) done = std::max(done, state_.seconds / (60 * o.max_minutes));
    if (o.max_epochs > 0) {
      const auto batches = static_cast<double>(std::max<std::int64_t>(1, t_.plan.batches(state_.epoch)));
      done = std::max(done, (static_cast<double>(state_.epoch) + static_cast<double>(state_.batch) / batches) /
                                static_cast<double>(o.max_epochs));
    }
    return std::min(1.0, done);
  }

  [[nodiscard]] bool over() const {
    const TrainOptions& o = t_.options;
    if (o.max_steps > 0 && state_.step >= o.max_steps) return true;
    if (o.max_minutes > 0 && state_.seconds >= 60 * o.max_minutes) return true;
    return o.max_epochs > 0 && (state_.epoch >= o.max_epochs ||
                                (state_.epoch + 1 == o.max_epochs && state_.batch >= t_.plan.batches(state_.epoch)));
  }

  [[nodiscard]] bool out_of_patience() const {
    return t_.options.patience > 0 && state_.without_improvement >= t_.options.patience;
  }

  void report() {
    const auto tokens = static_cast<double>(sums_.outputs);  // 0 when all steps were skipped: then the loss is NaN
    TrainReport r;
    r.state = state_;
    r.loss = sums_.loss / tokens;
    r.perplexity = std::exp(sums_.nll / tokens);
    r.accuracy = static_cast<double>(sums_.correct) / tokens;
    r.rate = rate_;
    r.gradient_norm = norm_;
    r.tokens_per_second = tokens / std::max(1e-9, working_seconds_);
    r.progress = progress();
    r.processes = processes_.count();
    r.sum_share = workers_.take_sum_seconds() / std::max(1e-9, working_seconds_);
    sums_ = {};
    working_seconds_ = 0;
    t_.observer.reported(r);
  }

  // The weights of the last checkpoints that are averaged, those of now included; empty when none are.
  [[nodiscard]] std::vector<std::vector<Tensor>> with_now() const {
    if (!adam_.mean().empty() || t_.options.average == 1) return {};
    std::vector<std::vector<Tensor>> recent = recent_;
    recent.push_back(copies(t_.parameters));
    if (static_cast<int>(recent.size()) > t_.options.average) recent.erase(recent.begin());
    return recent;
  }

  // The weights a checkpoint is validated and saved as: the step's own, their exponential mean, or the mean of the last
  // checkpoints (Vaswani et al. 2017 average the last 5).
  [[nodiscard]] std::vector<Tensor> candidate(const std::vector<std::vector<Tensor>>& recent) const {
    if (!adam_.mean().empty()) return adam_.mean();
    if (recent.empty()) return copies(t_.parameters);
    std::vector<Tensor> mean;
    for (std::size_t i = 0; i < recent[0].size(); ++i) {
      Tensor m = Tensor::zeros(recent[0][i].shape());
      for (const auto& weights : recent) {
        for (std::int64_t k = 0; k < m.size(); ++k) m.data()[k] += weights[i].data()[k];
      }
      for (float& v : m.values()) v /= static_cast<float>(recent.size());
      mean.push_back(m);
    }
    return mean;
  }

  // The state after a validation of these weights, which are saved if they are the best.
  [[nodiscard]] TrainState validate(const std::vector<std::vector<Tensor>>& recent) const {
    const std::vector<Tensor> weights = candidate(recent);
    const Validation v = t_.validate(weights, state_);
    TrainState after = state_;
    const bool best = std::isfinite(v.score) && (!state_.has_best || v.score > state_.best);
    if (best) {
      after.best = v.score;
      after.has_best = true;
      after.without_improvement = 0;
      if (processes_.first()) t_.save_best(weights);
    } else {
      ++after.without_improvement;
      if (t_.options.schedule.kind == ScheduleKind::plateau) ++after.halvings;
    }
    after.validated_step = state_.step;
    t_.observer.validated(after, v, best);
    return after;
  }

  Trainer::End finish(Trainer::End how) {
    if (sums_.outputs > 0) report();
    // Not a checkpoint of the schedule: with more steps allowed, training continues as if it had not been.
    if (state_.validated_step != state_.step && state_.step > 0) {
      state_.validated_step = validate(with_now()).validated_step;
    }
    state_.finished = true;
    save();
    return how;
  }

  void save() {
    saved_step_ = state_.step;
    if (!processes_.first()) return;
    Checkpoint c;
    c.state = state_;
    for (const auto& entry : t_.parameters.entries()) c.weights.push_back(entry.weight.value());
    c.first_moments = adam_.first_moments();
    c.second_moments = adam_.second_moments();
    c.mean = adam_.mean();
    c.recent = recent_;
    write_checkpoint(t_.checkpoint_file, c, t_.parameters, t_.fingerprint);
  }

  void restore() {
    Checkpoint c = read_checkpoint(t_.checkpoint_file, t_.parameters, t_.fingerprint);
    state_ = c.state;
    saved_step_ = state_.step;
    adam_.set_steps(state_.step - state_.skipped);
    if (c.mean.empty() != adam_.mean().empty() || static_cast<int>(c.recent.size()) > t_.options.average) {
      throw FileError(t_.checkpoint_file.string() + ": does not hold the means of weights that this training keeps");
    }
    for (std::size_t i = 0; i < c.weights.size(); ++i) {
      t_.parameters.entries()[i].weight.value().copy_from(c.weights[i]);
      adam_.first_moments()[i].copy_from(c.first_moments[i]);
      adam_.second_moments()[i].copy_from(c.second_moments[i]);
      if (!c.mean.empty()) adam_.mean()[i].copy_from(c.mean[i]);
    }
    recent_ = std::move(c.recent);
    // More steps may be allowed now than when it ended.
    state_.finished = state_.finished && (over() || out_of_patience());
  }

  const TrainerOptions& t_;
  Processes& processes_ = processes();
  Workers workers_;
  Adam adam_;
  TrainState state_;
  BatchTotals sums_;
  double working_seconds_ = 0;  // in steps since the last report; validation and checkpoints are not counted
  double rate_ = 0;
  double norm_ = 0;
  std::int64_t last_step_ = 0;    // of the schedule
  std::int64_t saved_step_ = -1;  // of the last checkpoint
  std::vector<std::int64_t> batch_;
  std::vector<std::vector<Tensor>> recent_;
};

}  // namespace

Trainer::Trainer(TrainerOptions how) : how_(std::move(how)) {
  how_.options.check();
}

Trainer::Result Trainer::run() {
  Run run(how_);
  const End end = run.run();
  return {end, run.state()};
}

}  // namespace fovea
