#include "fovea/attention/average.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/weights.hpp"
#include "fovea/error.hpp"

namespace fovea {

AverageAttention::AverageAttention(Parameters& p, const std::string& name, const AverageAttentionOptions& options) {
  attention::require_sizes(name, {{"dim", options.dim}, {"inner", options.inner}});
  feed = FeedForward(p, name + ".feed", options.dim, options.inner,
                     {.activation = options.activation, .bias = options.bias});
  gate_input = Linear(p, name + ".gate_input", options.dim, 2 * options.dim);
  gate_average = Linear(p, name + ".gate_average", options.dim, 2 * options.dim, {.bias = false});
}

Var AverageAttention::gated(const Var& x, const Var& mean, LayerPass& pass) const {
  const Var g = feed(mean, pass);
  const Var gates = sigmoid(add(gate_input(x), gate_average(g)));
  const std::int64_t width = x.dim(-1);
  const int last = static_cast<int>(x.rank()) - 1;
  return add(mul(slice(gates, last, 0, width), x), mul(slice(gates, last, width, 2 * width), g));
}

Var AverageAttention::operator()(const Var& x, LayerPass& pass) const {
  return gated(x, cumulative_mean(x), pass);
}

Tensor AverageAttention::step(const Tensor& x, const Tensor& sum, std::int64_t count) const {
  const NoGrad quiet;
  if (x.rank() != 2 || !(x.shape() == sum.shape()) || !sum.is_contiguous()) {
    throw ShapeError(fmt::format("average: a step of {} with a sum of {}; both must be [rows, width]", x.shape().text(),
                                 sum.shape().text()));
  }
  const Tensor in = x.contiguous();
  const Tensor mean = Tensor::empty(x.shape());
  const float share = 1.0F / static_cast<float>(count);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    sum.data()[i] += in.data()[i];
    mean.data()[i] = sum.data()[i] * share;
  }
  LayerPass pass;
  return gated(in, mean, pass).value();
}

}  // namespace fovea
