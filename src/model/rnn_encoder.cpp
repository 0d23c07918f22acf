#include "model/rnn_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

GruWeights gru_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden) {
  return {p.get(name + ".input", {in, 3 * hidden}, Init::xavier),
          p.get(name + ".state", {hidden, 3 * hidden}, Init::recurrent),
          p.get(name + ".bias", {3 * hidden}, Init::zeros), p.get(name + ".state_bias", {hidden}, Init::zeros)};
}

LstmWeights lstm_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden) {
  return {p.get(name + ".input", {in, 4 * hidden}, Init::xavier),
          p.get(name + ".state", {hidden, 4 * hidden}, Init::recurrent),
          p.get(name + ".bias", {4 * hidden}, Init::zeros)};
}

RnnEncoder::RnnEncoder(const ModelConfig& config, Parameters& p)
    : cell_(config.cell), both_(config.bidirectional), width_(config.dim * (config.bidirectional ? 2 : 1)) {
  std::int64_t in = config.embedding_width();
  for (int i = 0; i < config.encoder_layers(); ++i) {
    const std::string name = "encoder." + std::to_string(i);
    Layer layer;
    if (cell_ == Cell::gru) {
      layer.gru = gru_weights(p, name + ".forward", in, config.dim);
      if (both_) layer.gru_back = gru_weights(p, name + ".backward", in, config.dim);
    } else {
      layer.lstm = lstm_weights(p, name + ".forward", in, config.dim);
      if (both_) layer.lstm_back = lstm_weights(p, name + ".backward", in, config.dim);
    }
    layers_.push_back(std::move(layer));
    in = width_;
  }
}

Recurrent RnnEncoder::run(const Layer& layer, const Var& x, const Tokens& source) const {
  const RecurrentOptions how{.lengths = source.lengths};
  if (cell_ == Cell::gru) {
    return both_ ? bidirectional_gru(x, layer.gru, layer.gru_back, how) : gru(x, layer.gru, how);
  }
  return both_ ? bidirectional_lstm(x, layer.lstm, layer.lstm_back, how) : lstm(x, layer.lstm, how);
}

Memory RnnEncoder::encode(const Var& embedded, const Tokens& source, Pass& pass) const {
  Var x = pass.drop(embedded);
  Var last;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Recurrent out = run(layers_[i], x, source);
    // From the second layer on widths agree, and a residual keeps the lower layer's view (Wu et al. 2016).
    x = pass.drop(i > 0 ? add(x, out.states) : out.states);
    last = out.last;
  }
  return {.states = x, .summary = last, .lengths = source.lengths};
}

}  // namespace fovea
