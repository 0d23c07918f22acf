// Adam (Kingma and Ba 2015), with decoupled weight decay as AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_gradient.hpp"

namespace FOVEA_API fovea {

/// Options of Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
struct AdamOptions {
  float rate = 1e-3F;      // learning rate
  float beta1 = 0.9F;      // decay of the mean of the gradients
  float beta2 = 0.999F;    // decay of the mean of their squares
  float epsilon = 1e-8F;   // added to the root of those squares
  float weight_decay = 0;  // decoupled, as in AdamW; 0: Adam
  float clip = 0;          // largest norm of the gradient; 0: no limit
  float ema = 0;           // decay of an exponential mean of the weights; 0: none is kept

  /// Throws UsageError naming the field that cannot be.
  void check() const;
};

/// Updates every weight of `parameters` from its gradient.
///
///     Adam adam(parameters, {.rate = 1e-3F});
///     backward(loss);
///     adam.step();  // takes the gradients and clears them
class Adam {
 public:
  /// Make it after the model: weights that are asked for later are not trained. Throws UsageError for options that
  /// cannot be.
  /// `rows`: weights that are trained by rows. A step changes the rows that have a gradient; the moments of all others
  /// wait, and they do not decay. Throws UsageError for a name that is none of the weights'.
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
  void set_steps(std::int64_t steps) { steps_ = steps; }       // when a training goes on

  // In the order of Parameters::entries().
  [[nodiscard]] std::vector<Tensor>& first_moments() { return first_; }
  /// Means of the squared gradients, in the same order.
  [[nodiscard]] std::vector<Tensor>& second_moments() { return second_; }
  [[nodiscard]] std::vector<Tensor>& mean() { return mean_; }  // the exponential mean of the weights; may be empty

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
