#include "model/encoders/rnn_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

RnnEncoder::RnnEncoder(const RnnEncoderConfig& config, std::int64_t input, Parameters& p, const std::string& name)
    : name_(name) {
  for (int i = 0; i < config.layers; ++i) {
    layers_.emplace_back(p, name + "." + std::to_string(i),
                         RecurrentLayerOptions{.cell = config.cell,
                                               .in = i == 0 ? input : layers_[0].width(),
                                               .hidden = config.dim,
                                               .bidirectional = config.bidirectional});
  }
}

Memory RnnEncoder::encode(const Sequence& input, Pass& pass, bool) const {
  Var x = pass.drop(input.values);
  pass.note(name_, "embedded", x);
  Var last;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Recurrent out = layers_[i](x, {.lengths = input.lengths});
    // From the second layer on widths agree, and a residual keeps the lower layer's view (Wu et al. 2016).
    x = pass.drop(i > 0 ? add(x, out.states) : out.states);
    last = out.last;
  }
  pass.note(name_, "output", x);
  pass.note(name_, "summary", last);
  return {.states = x, .summary = last, .lengths = input.lengths};
}

}  // namespace fovea
