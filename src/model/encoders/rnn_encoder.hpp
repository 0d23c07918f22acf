// Recurrent encoder: one or more layers of GRU or LSTM, in one or both directions (Bahdanau et al. 2015, section 3.2).
#pragma once

#include <string>
#include <vector>

#include "fovea/model/encoder.hpp"
#include "fovea/nn/recurrent.hpp"

namespace fovea {

class RnnEncoder final : public Encoder {
 public:
  RnnEncoder(const RnnEncoderConfig& config, std::int64_t input, Parameters& parameters, const std::string& name);
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return layers_[0].width(); }
  void keep_last_states() override { keep_last_ = true; }

 private:
  std::string name_;
  bool residual_;
  bool keep_last_ = false;
  std::vector<RecurrentLayer> layers_;
};

}  // namespace fovea
