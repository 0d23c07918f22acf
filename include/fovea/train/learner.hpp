// What a training is to the trainer: examples by number, and models that give the loss of some of them. What an example
// is, a pair of sentences or a text with a label, only its learner knows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fovea/attention/pass.hpp"
#include "fovea/model/loss.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace FOVEA_API fovea {

/// How much an example has to read and to write, in tokens with their end of sequence (a label is 1).
struct ExampleSize {
  std::int64_t input = 0, output = 0;  // tokens
};

/// The examples of a training. Those of similar size are worked on together.
class Examples {
 public:
  Examples() = default;
  virtual ~Examples() = default;
  Examples(const Examples&) = delete;
  Examples& operator=(const Examples&) = delete;
  /// Of one example.
  [[nodiscard]] virtual ExampleSize size(std::int64_t example) const = 0;
};

/// In which batches an epoch goes through the examples; the same for the same epoch every time.
class BatchPlan {
 public:
  BatchPlan() = default;
  virtual ~BatchPlan() = default;
  BatchPlan(const BatchPlan&) = delete;
  BatchPlan& operator=(const BatchPlan&) = delete;
  /// How many an epoch has.
  [[nodiscard]] virtual std::int64_t batches(std::int64_t epoch) = 0;
  /// Puts the examples of a batch into `examples`.
  virtual void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& examples) = 0;
};

/// A model at work on examples, on one thread at a time.
class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  /// Forward over some examples. With how.r_drop > 0 they come twice, one half after the other. The arrays that the
  /// graph needs live until the next call.
  [[nodiscard]] virtual BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) = 0;
  /// The weights that its model trains by rows (RowTable), always in the same order.
  [[nodiscard]] virtual std::vector<TrainedRows> rows() const { return {}; }
};

/// Makes a learner whose model takes its weights from `parameters`.
using LearnerFactory = std::function<std::unique_ptr<Learner>(Parameters& parameters)>;

}  // namespace fovea
