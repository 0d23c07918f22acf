// Copies of the model that work side by side, and the sum of their gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "base/processes.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/train/learner.hpp"
#include "train/gradient_sum.hpp"

namespace fovea {

/// What a batch cost, over all its micro-batches.
struct BatchTotals {
  double loss = 0;  // summed over the outputs, with label smoothing and R-Drop
  double nll = 0;
  std::int64_t outputs = 0, correct = 0;
};

/// Copies of the model that share the weights and have gradients of their own (the first one those of `parameters`).
/// A thread takes one at a time through its micro-batches, alone: no barrier but the one at the end of the batch. The
/// copies' gradients are then summed in a fixed order, so the bytes depend on the number of copies, but neither on
/// that of the threads or processes nor on their timing.
class Workers {
 public:
  /// `count` copies, distributed over the processes. Throws UsageError when there are more processes.
  Workers(const LearnerFactory& make_learner, Parameters& parameters, int count, Processes& processes);

  /// Forward and backward over the examples `batch` (reordered), with R-Drop over each twice, which counts twice.
  /// Each copy adds to its gradients. With `sum`, which the last batch of a step has, they are then added up over all
  /// copies, in `parameters` and rows().
  BatchTotals run(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                  const DropoutRates& dropout, const LossOptions& how, std::uint64_t seed, bool sum = true);
  /// Forward only, without dropout and smoothing.
  BatchTotals measure(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens);
  /// The weights that are trained by rows; the gradients of all copies are summed in these.
  [[nodiscard]] const std::vector<TrainedRows>& rows() const { return rows_[0]; }
  /// Forgets the gradients of all copies.
  void clear_gradients() const;
  /// Seconds that the sum of gradients over processes has taken since the last call, without what overlapped with the
  /// backward pass.
  [[nodiscard]] double take_sum_seconds() { return sum_gradients_.take_seconds(); }

 private:
  // Reports to the sum which gradients of a copy are complete.
  class Watch final : public LeafObserver {
   public:
    Watch(GradientSum& sum, int copy) : sum_(sum), copy_(copy) {}
    void complete(std::int32_t entry) override { sum_.complete(copy_, static_cast<std::size_t>(entry)); }

   private:
    GradientSum& sum_;
    int copy_;
  };
  struct Worker {
    WorkArena arena;           // whichever thread runs it
    Parameters parameters{0};  // empty for the first
    std::unique_ptr<Learner> learner;
    std::vector<std::int64_t> twice;  // the examples of a micro-batch, with R-Drop
    BatchTotals totals;
  };
  template <class Body, class After>
  BatchTotals each(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int times,
                   const Body& body, const After& after);
  [[nodiscard]] BatchTotals sum_totals() const;

  Processes& processes_;
  GradientSum sum_gradients_;                     // the one place where gradients come together
  int count_;                                     // of all processes
  std::vector<std::unique_ptr<Worker>> workers_;  // of this one
  std::vector<const Parameters*> copies_;         // their weights and gradients
  std::vector<std::vector<TrainedRows>> rows_;    // and those that are trained by rows
  std::vector<std::size_t> ends_;
};

}  // namespace fovea
