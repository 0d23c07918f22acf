#include "model/encoders/rnn_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

RnnEncoder::RnnEncoder(const RnnEncoderConfig& config, std::int64_t input, Parameters& p, const std::string& name)
    : name_(name), residual_(config.residual) {
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
  Memory memory{.lengths = input.lengths};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Recurrent out = layers_[i](x, {.lengths = input.lengths});
    // From the second layer on widths agree, so that residuals are possible (Wu et al. 2016).
    x = pass.drop(i > 0 && residual_ ? add(x, out.states) : out.states);
    memory.summary = out.last;
    if (!keep_last_) continue;
    memory.last.push_back(out.last);
    if (out.last_cell) memory.last_cells.push_back(out.last_cell);
  }
  pass.note(name_, "output", x);
  memory.states = x;
  pass.note(name_, "summary", memory.summary);
  return memory;
}

}  // namespace fovea
