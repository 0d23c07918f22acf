// Self-attention encoder (Vaswani et al. 2017, section 3.1).
#pragma once

#include <vector>

#include "fovea/attention/multi_head.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/nn/feed_forward.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "fovea/nn/positions.hpp"

namespace fovea {

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(const TransformerConfig& config, std::int64_t input, Parameters& parameters,
                     const std::string& name);
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return config_.dim; }

 private:
  struct Layer {
    LayerNorm self_norm, feed_norm;  // pre-norm; with post-norm they stand after the residual sum
    MultiHead self;
    FeedForward feed;
  };

  TransformerConfig config_;
  PositionEmbedding positions_;
  LayerNorm embedding_norm_;  // where the configuration has it
  std::vector<Layer> layers_;
  LayerNorm last_;
};

/// The positions that are added to embeddings, and those that attention has.
[[nodiscard]] PositionEmbedding added_positions(const TransformerConfig& config, Parameters& p,
                                                const std::string& name);
[[nodiscard]] AttendOptions self_attention(const TransformerConfig& config);
/// A layer's heads, without or with a memory of another width.
[[nodiscard]] MultiHeadOptions head_options(const TransformerConfig& config, std::int64_t memory = 0);

}  // namespace fovea
