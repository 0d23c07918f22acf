// Adam (Kingma and Ba 2015), with decoupled weight decay as AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <cstdint>
#include <vector>

#include "nn/parameters.hpp"
#include "train/options.hpp"

namespace fovea {

class Adam {
 public:
  Adam(Parameters& parameters, const TrainOptions& options);

  /// One step with the gradients in the parameters times `scale`, their norm cut to the options' clip; the gradients
  /// are cleared. Returns the norm before the cut.
  double step(std::int64_t number, double rate, double scale);

  [[nodiscard]] std::vector<Tensor>& first_moments() { return first_; }
  [[nodiscard]] std::vector<Tensor>& second_moments() { return second_; }
  [[nodiscard]] std::vector<Tensor>& mean() { return mean_; }  // the exponential mean of the weights; may be empty

 private:
  Parameters& parameters_;
  const TrainOptions& options_;
  std::vector<Tensor> first_, second_, mean_;
  struct Piece {
    std::size_t entry;
    std::int64_t at, count;
  };
  std::vector<Piece> pieces_;  // all weights, cut so that threads can share them
  std::vector<double> squares_;
  std::vector<Tensor> gradients_;
};

}  // namespace fovea
