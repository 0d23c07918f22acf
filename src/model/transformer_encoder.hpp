// Self-attention encoder (Vaswani et al. 2017, section 3.1).
#pragma once

#include <vector>

#include "model/encoder.hpp"
#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "nn/multi_head.hpp"
#include "nn/positions.hpp"

namespace fovea {

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(const ModelConfig& config, Parameters& parameters);
  [[nodiscard]] Memory encode(const Var& embedded, const Tokens& source, Pass& pass) const override;
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  struct Layer {
    LayerNorm before_self, before_feed;  // pre-norm; with post-norm they stand after the residual sum
    MultiHeadLayer self;
    FeedForward feed;
  };

  std::int64_t width_;
  Norm norm_;
  Positions kind_;
  PositionEmbedding positions_;
  std::vector<Layer> layers_;
  LayerNorm last_;
};

/// The part of the configuration's positions that is added to embeddings.
[[nodiscard]] PositionEmbedding::Kind added_positions(Positions positions);

}  // namespace fovea
