// Convolutional encoder (Gehring et al. 2017): position embeddings, blocks of convolution and gated linear unit with
// residuals.
#pragma once

#include <string>
#include <vector>

#include "fovea/model/encoder.hpp"
#include "fovea/nn/convolution.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/positions.hpp"

namespace fovea {

class CnnEncoder final : public Encoder {
 public:
  CnnEncoder(const CnnConfig& config, std::int64_t input, Parameters& parameters, const std::string& name);
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return embedding_; }

 private:
  void note_layer(const Pass& pass, std::size_t layer, const Var& in, const Var& out) const;

  std::int64_t embedding_;
  std::string name_;
  PositionEmbedding positions_;
  Linear in_, out_;  // between the widths of embeddings and of states
  std::vector<GatedConvolution> layers_;
};

}  // namespace fovea
