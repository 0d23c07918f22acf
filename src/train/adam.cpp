#include "train/adam.hpp"

#include <cmath>

#include "fovea/threads.hpp"

namespace fovea {

Adam::Adam(Parameters& parameters, const TrainOptions& options) : parameters_(parameters), options_(options) {
  for (const auto& entry : parameters.entries()) {
    first_.push_back(Tensor::zeros(entry.weight.shape()));
    second_.push_back(Tensor::zeros(entry.weight.shape()));
    if (options.ema > 0) mean_.push_back(entry.weight.value().clone());
  }
  squares_.resize(parameters.entries().size());
}

double Adam::step(std::int64_t number, double rate, double scale) {
  double sum = 0;
  for (const auto& entry : parameters_.entries()) {
    for (const float g : entry.weight.grad().values()) sum += double(g) * g;
  }
  const double norm = scale * std::sqrt(sum);
  const double factor = scale * (options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0);
  const double c1 = 1 - std::pow(double{options_.beta1}, double(number));
  const double c2 = 1 - std::pow(double{options_.beta2}, double(number));
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const Var& w = parameters_.entries()[i].weight;
    const Tensor g = w.grad();
    for (std::int64_t k = 0; k < g.size(); ++k) {
      const double x = factor * g.data()[k];
      float& m = first_[i].data()[k];
      float& v = second_[i].data()[k];
      m = float(options_.beta1 * m + (1 - options_.beta1) * x);
      v = float(options_.beta2 * v + (1 - options_.beta2) * x * x);
      float& y = w.value().data()[k];
      y = float(y - rate * (m / c1 / (std::sqrt(v / c2) + options_.epsilon) + options_.weight_decay * y));
      if (!mean_.empty()) mean_[i].data()[k] = options_.ema * mean_[i].data()[k] + (1 - options_.ema) * y;
    }
    w.zero_grad();
  }
  return norm;
}

}  // namespace fovea
