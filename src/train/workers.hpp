// Copies of the model that work side by side, and the sum of their gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/train/learner.hpp"

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
/// that of the threads nor on their timing.
class Workers {
 public:
  Workers(const LearnerFactory& make_learner, Parameters& parameters, int count);

  /// Forward and backward over the examples `batch` (reordered), with R-Drop over each twice, which counts twice.
  /// Gradients are added to those in `parameters`.
  BatchTotals run(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                  const DropoutRates& dropout, const LossOptions& how, std::uint64_t seed);
  /// Forward only, without dropout and smoothing.
  BatchTotals measure(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens);

  [[nodiscard]] int count() const { return static_cast<int>(workers_.size()); }

 private:
  struct Worker {
    WorkArena arena;           // whichever thread runs it
    Parameters parameters{0};  // empty for the first
    std::unique_ptr<Learner> learner;
    BatchTotals totals;
  };
  template <class Body>
  BatchTotals each(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int times,
                   const Body& body);
  void sum_gradients();

  Parameters& parameters_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::size_t> ends_;
};

}  // namespace fovea
