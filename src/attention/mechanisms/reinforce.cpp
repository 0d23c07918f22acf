// the loss of sampled attention (Williams 1992)
//   forward   y = -mean((reward - baseline) logp)
//   backward  dlogp = -(reward - baseline) / n dy
#include <fmt/format.h>

#include "fovea/attention/attend.hpp"
#include "fovea/error.hpp"

namespace fovea {

Var reinforce_loss(const Var& log_probability, const Tensor& reward, const Tensor& baseline) {
  const Shape& shape = log_probability.shape();
  if (!(reward.shape() == shape) || !(baseline.shape() == shape)) {
    throw ShapeError(fmt::format("reinforce_loss: reward {} and baseline {}: expected {}, as log_probability",
                                 reward.shape().text(), baseline.shape().text(), shape.text()));
  }
  const Tensor p = log_probability.value().contiguous();
  const Tensor r = reward.contiguous();
  const Tensor base = baseline.contiguous();
  const Tensor advantage = Tensor::empty(shape);
  const auto n = static_cast<float>(std::max<std::int64_t>(1, p.size()));
  double total = 0;
  for (std::int64_t i = 0; i < p.size(); ++i) {
    advantage.data()[i] = -(r.data()[i] - base.data()[i]) / n;
    total += static_cast<double>(advantage.data()[i]) * p.data()[i];
  }
  return record(Tensor::full({}, static_cast<float>(total)), {log_probability},
                [log_probability, advantage](const Tensor& dy) {
                  const Tensor d = Tensor::empty(advantage.shape());
                  for (std::int64_t i = 0; i < d.size(); ++i) d.data()[i] = advantage.data()[i] * dy.item();
                  log_probability.accumulate(d);
                });
}

}  // namespace fovea
