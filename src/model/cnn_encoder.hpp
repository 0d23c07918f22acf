// Convolutional encoder (Gehring et al. 2017): position embeddings, blocks of convolution and gated linear unit with
// residuals.
#pragma once

#include <vector>

#include "model/encoder.hpp"
#include "nn/gated_convolution.hpp"
#include "nn/linear.hpp"
#include "nn/positions.hpp"

namespace fovea {

class CnnEncoder final : public Encoder {
 public:
  CnnEncoder(const ModelConfig& config, Parameters& parameters);
  [[nodiscard]] Memory encode(const Var& embedded, const Tokens& source, Pass& pass) const override;
  [[nodiscard]] std::int64_t width() const override { return embedding_; }

 private:
  std::int64_t embedding_;
  PositionEmbedding positions_;
  Linear in_, out_;  // between the widths of embeddings and of states
  std::vector<GatedConvolution> layers_;
};

}  // namespace fovea
