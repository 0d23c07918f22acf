#include "fovea/nn/recurrent.hpp"

namespace fovea {

namespace {

// Decoders slice and join its values, so they are kept in addition to the packed form.
Weight kept_matrix(Parameters& p, const std::string& name, const Shape& shape, const Init& init) {
  (void)p.get(name, shape, init, MatrixLayout::in_out);
  return p.matrix(name, shape, init);
}

}  // namespace

GruWeights gru_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden) {
  const Weight input = kept_matrix(p, name + ".input", {in, 3 * hidden}, Init::xavier);
  const Weight state = kept_matrix(p, name + ".state", {hidden, 3 * hidden}, Init::recurrent);
  return {input.var,
          state.var,
          p.get(name + ".bias", {3 * hidden}, Init::zeros),
          p.get(name + ".state_bias", {hidden}, Init::zeros),
          input.packed,
          state.packed};
}

LstmWeights lstm_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden) {
  const Weight input = kept_matrix(p, name + ".input", {in, 4 * hidden}, Init::xavier);
  const Weight state = kept_matrix(p, name + ".state", {hidden, 4 * hidden}, Init::recurrent);
  return {input.var, state.var, p.get(name + ".bias", {4 * hidden}, Init::zeros), input.packed, state.packed};
}

RecurrentLayer::RecurrentLayer(Parameters& p, const std::string& name, const RecurrentLayerOptions& options)
    : options_(options) {
  if (options.cell == Cell::gru) {
    gru_ = gru_weights(p, name + ".forward", options.in, options.hidden);
    if (options.bidirectional) gru_back_ = gru_weights(p, name + ".backward", options.in, options.hidden);
  } else {
    lstm_ = lstm_weights(p, name + ".forward", options.in, options.hidden);
    if (options.bidirectional) lstm_back_ = lstm_weights(p, name + ".backward", options.in, options.hidden);
  }
}

Recurrent RecurrentLayer::operator()(const Var& x, const RecurrentOptions& how) const {
  if (options_.cell == Cell::gru) {
    return options_.bidirectional ? bidirectional_gru(x, gru_, gru_back_, how) : gru(x, gru_, how);
  }
  return options_.bidirectional ? bidirectional_lstm(x, lstm_, lstm_back_, how) : lstm(x, lstm_, how);
}

}  // namespace fovea
