#include "model/encoders/parallel_cnn_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

ParallelCnnEncoder::ParallelCnnEncoder(const ParallelCnnConfig& config, std::int64_t input, Parameters& p,
                                       const std::string& name)
    : name_(name), width_(std::int64_t{config.dim} * static_cast<std::int64_t>(config.kernels.size())) {
  for (std::size_t i = 0; i < config.kernels.size(); ++i) {
    convolutions_.emplace_back(p, name + "." + std::to_string(i), input, config.dim,
                               TimeConvolutionOptions{.kernel = config.kernels[i]});
  }
}

Memory ParallelCnnEncoder::encode(const Sequence& input, Pass& pass, bool) const {
  const Var e = pass.drop(input.values);
  pass.note(name_, "embedded", e);
  std::vector<Var> found;
  for (const TimeConvolution& convolution : convolutions_) {
    found.push_back(relu(convolution(e, {.lengths = input.lengths})));
  }
  const Var states = found.size() == 1 ? found[0] : concat(found, 2);
  pass.note(name_, "convolution", states);
  return {.states = states, .lengths = input.lengths};
}

}  // namespace fovea
