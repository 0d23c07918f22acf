// Adam (Kingma and Ba 2015), with decoupled weight decay as AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/fields.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace FOVEA_API fovea {

/// Options of Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
struct AdamOptions {
  double rate = 1e-3F;     // learning rate; in a training the largest one
  float beta1 = 0.9F;      // decay of the mean of the gradients
  float beta2 = 0.999F;    // decay of the mean of their squares
  float epsilon = 1e-8F;   // added to the root of those squares
  float weight_decay = 0;  // decoupled, as in AdamW; 0: Adam
  float clip = 0;          // largest norm of the gradient; 0: no limit
  float ema = 0;           // decay of an exponential moving average of the weights; 0: none is kept

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.rate, {.name = "learning-rate",
                   .range = more_than(0),
                   .group = "Optimizer",
                   .help = "largest learning rate",
                   .usual = "depends on the model",
                   .common = true});
    visit(c.beta1, {.name = "beta1",
                    .range = below_one(),
                    .group = "Optimizer",
                    .help = "decay of Adam's moving average of the gradients"});
    visit(c.beta2, {.name = "beta2",
                    .range = below_one(),
                    .group = "Optimizer",
                    .help = "decay of Adam's moving average of the squared gradients"});
    visit(c.epsilon, {.name = "epsilon",
                      .range = more_than(0),
                      .group = "Optimizer",
                      .help = "Adam's epsilon, added to the root of the squared gradients"});
    visit(c.weight_decay, {.name = "weight-decay",
                           .range = at_least(0),
                           .group = "Optimizer",
                           .help = "decoupled weight decay of the optimizer adamw",
                           .usual = "0.01 with adamw"});
    visit(c.clip, {.name = "clip",
                   .range = at_least(0),
                   .group = "Optimizer",
                   .help = "largest norm of the gradient, larger ones are scaled down; 0: no limit"});
    visit(c.ema, {.name = "ema",
                  .range = below_one(),
                  .group = "Checkpoints and validation",
                  .help = "validate and save an exponential moving average of the weights with this decay; 0: off"});
  }
  /// Throws UsageError naming the field that is out of range.
  void check() const;
};

/// Updates every weight of `parameters` from its gradient.
///
///     Adam adam(parameters, {.rate = 1e-3F});
///     backward(loss);
///     adam.step();  // takes the gradients and clears them
class Adam {
 public:
  /// Make it after the model: weights that the model creates later are not trained. Throws UsageError for options out
  /// of range.
  /// `rows`: weights that are trained by rows. A step changes the rows that have a gradient; all other rows and their
  /// moments stay as they are. Throws UsageError for a name that no weight has.
  explicit Adam(Parameters& parameters, const AdamOptions& options = {}, const std::vector<TrainedRows>& rows = {});

  /// The norm of all gradients, times `scale`.
  [[nodiscard]] double norm(double scale = 1);
  /// One step with the gradients, their norm cut to the options' clip; the gradients are cleared. Returns the norm
  /// before the cut. Throws Error when it is not finite, before anything has changed.
  double step() { return step(options_.rate); }
  /// The same with another rate, and the gradients times `scale`.
  double step(double rate, double scale = 1);

  /// The second half of step(), for a caller that has asked for the norm, with the same scale, to decide whether to
  /// take the step.
  void update(double rate, double scale, double norm);

  [[nodiscard]] std::int64_t steps() const { return steps_; }  // taken so far
  void set_steps(std::int64_t steps) { steps_ = steps; }       // of a training that is resumed

  // In the order of Parameters::entries().
  [[nodiscard]] std::vector<Tensor>& first_moments() { return first_; }
  /// Means of the squared gradients, in the same order.
  [[nodiscard]] std::vector<Tensor>& second_moments() { return second_; }
  [[nodiscard]] std::vector<Tensor>& mean() { return mean_; }  // the exponential mean of the weights; may be empty
  /// The same of a constant optimizer.
  [[nodiscard]] const std::vector<Tensor>& mean() const { return mean_; }

 private:
  Parameters& parameters_;
  AdamOptions options_;
  std::int64_t steps_ = 0;
  std::vector<Tensor> first_, second_, mean_;
  struct Piece {
    std::size_t entry;
    std::int64_t at, count;             // numbers; of a gradient by rows, its rows
    const RowGradient* rows = nullptr;  // where there is one
  };
  template <class Body>
  void each_piece(const Body& body) const;
  void find_rows();

  std::vector<Piece> pieces_;  // all weights, cut so that threads can share them; behind them the rows of this step
  std::size_t whole_ = 0;      // pieces that are not of rows
  std::vector<std::shared_ptr<RowGradient>> rows_;  // of each entry; null where the whole weight is trained
  std::vector<double> squares_;
  std::vector<Tensor> gradients_;
};

}  // namespace fovea
