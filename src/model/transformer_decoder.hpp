// Transformer decoder: causal self-attention, attention to the memory, feed-forward (Vaswani et al. 2017, section 3.1);
// a token at a time with cached keys and values.
#pragma once

#include <vector>

#include "model/decoder.hpp"
#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "nn/multi_head.hpp"
#include "nn/positions.hpp"

namespace fovea {

class TransformerDecoder final : public Decoder {
 public:
  TransformerDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& parameters);
  [[nodiscard]] Decoded decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                               bool want_attention) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory& memory, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  friend class TransformerState;
  struct Layer {
    LayerNorm self_norm, cross_norm, feed_norm;
    MultiHeadLayer self, cross;
    FeedForward feed;
  };

  // x [batch, length, width] through all layers and the last norm; self_part(i, x) and cross_part(i, x) are layer i's
  // attention to what was written and to the memory.
  template <class Self, class Cross>
  Var run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const;

  [[nodiscard]] Var turned(const Var& x, std::int64_t first, const MultiHeadLayer& layer) const;

  std::int64_t width_;
  Norm norm_;
  Positions kind_;
  PositionEmbedding positions_;
  std::vector<Layer> layers_;
  LayerNorm last_;
};

}  // namespace fovea
