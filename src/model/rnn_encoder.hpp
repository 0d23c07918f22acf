// Recurrent encoder: one or more layers of GRU or LSTM, in one or both directions (Bahdanau et al. 2015, section 3.2).
#pragma once

#include <vector>

#include "fovea/recurrent.hpp"
#include "model/encoder.hpp"

namespace fovea {

class RnnEncoder final : public Encoder {
 public:
  RnnEncoder(const ModelConfig& config, Parameters& parameters);
  [[nodiscard]] Memory encode(const Var& embedded, const Tokens& source, Pass& pass) const override;
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  struct Layer {
    GruWeights gru, gru_back;
    LstmWeights lstm, lstm_back;
  };
  [[nodiscard]] Recurrent run(const Layer& layer, const Var& x, const Tokens& source) const;

  Cell cell_;
  bool both_;
  std::int64_t width_;  // of both directions together
  std::vector<Layer> layers_;
};

/// Weights of a cell by their names: NAME.input [in, gates * hidden], NAME.state [hidden, gates * hidden], biases.
[[nodiscard]] GruWeights gru_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden);
[[nodiscard]] LstmWeights lstm_weights(Parameters& p, const std::string& name, std::int64_t in, std::int64_t hidden);

}  // namespace fovea
