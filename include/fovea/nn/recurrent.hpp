// Recurrent layers: the weights of a cell by name, and the network over whole sequences.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/nn/parameters.hpp"
#include "fovea/recurrent.hpp"

namespace FOVEA_API fovea {

/// Weights of a cell: NAME.input [in, gates * hidden], NAME.state [hidden, gates * hidden], NAME.bias, and for a GRU
/// NAME.state_bias.
[[nodiscard]] GruWeights gru_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden);
/// As gru_weights(), without NAME.state_bias.
[[nodiscard]] LstmWeights lstm_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden);

/// A GRU (Cho et al. 2014).
///
///     const Gru layer(parameters, "encoder", 64, 128);
///     const Recurrent run = layer(x, {.lengths = lengths});  // run.states [B, T, 128]
struct Gru {
  Gru() = default;
  /// Weights as gru_weights() names them.
  Gru(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden)
      : weights(gru_weights(p, name, in, hidden)) {}
  /// x [B, T, in] to states [B, T, hidden]; `first` [B, hidden] is the state before the first step (zeros if empty).
  [[nodiscard]] Recurrent operator()(const Var& x, const RecurrentOptions& how = {}, const Var& first = {}) const {
    return gru(x, weights, how, first);
  }
  GruWeights weights{};  // see gru()
};

/// An LSTM (Hochreiter and Schmidhuber 1997).
struct Lstm {
  Lstm() = default;
  /// Weights as lstm_weights() names them.
  Lstm(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden)
      : weights(lstm_weights(p, name, in, hidden)) {}
  /// x [B, T, in] to states [B, T, hidden]; `first` and `first_cell` [B, hidden] or empty: zeros.
  [[nodiscard]] Recurrent operator()(const Var& x, const RecurrentOptions& how = {}, const Var& first = {},
                                     const Var& first_cell = {}) const {
    return lstm(x, weights, how, first, first_cell);
  }
  LstmWeights weights{};  // see lstm()
};

/// Sizes of RecurrentLayer.
struct RecurrentLayerOptions {
  Cell cell = Cell::gru;       // GRU or LSTM
  std::int64_t in = 0;         // width of the inputs
  std::int64_t hidden = 0;     // units of each direction
  bool bidirectional = false;  // the states of both directions side by side
};

/// A layer of either cell, in one or both directions; weights NAME.forward and NAME.backward.
class RecurrentLayer {
 public:
  RecurrentLayer() = default;
  /// Weights as gru_weights() or lstm_weights() name them, for each direction.
  RecurrentLayer(Parameters& p, const std::string& name, const RecurrentLayerOptions& options);
  /// x [B, T, in] to states [B, T, width()].
  [[nodiscard]] Recurrent operator()(const Var& x, const RecurrentOptions& how = {}) const;
  /// Width of the states: `hidden`, or twice that with both directions.
  [[nodiscard]] std::int64_t width() const { return options_.hidden * (options_.bidirectional ? 2 : 1); }

 private:
  RecurrentLayerOptions options_;
  GruWeights gru_, gru_back_;
  LstmWeights lstm_, lstm_back_;
};

}  // namespace fovea
