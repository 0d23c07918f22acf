// Transformer decoder: causal self-attention, attention to the memory, feed-forward (Vaswani et al. 2017, section 3.1);
// a token at a time with cached keys and values. SSRU or average attention can stand where self-attention does. Without
// a memory it is a language model.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/average.hpp"
#include "fovea/attention/multi_head.hpp"
#include "fovea/model/decoder.hpp"
#include "fovea/nn/feed_forward.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "fovea/nn/positions.hpp"
#include "fovea/nn/ssru.hpp"
#include "model/decoders/rotary_table.hpp"

namespace fovea {

class TransformerDecoder final : public Decoder {
 public:
  TransformerDecoder(const TransformerConfig& config, const DecoderSizes& sizes, Parameters& parameters,
                     const std::string& name);
  [[nodiscard]] Decoded decode(const Memory* memory, const Sequence& target, Pass& pass,
                               const DecoderAttention& want) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                    const Interventions* interventions) const override;
  [[nodiscard]] std::int64_t width() const override { return config_.dim; }

 private:
  friend class TransformerState;
  friend class TransformerStepper;
  struct Layer {
    LayerNorm self_norm, cross_norm, feed_norm;  // cross_norm: only with a memory
    MultiHead self;                              // or, by the configuration, one of the next two
    Ssru ssru;
    AverageAttention average;
    MultiHead cross;
    FeedForward feed;
    std::string name;  // "decoder.0"
  };

  // x [batch, length, width] through all layers and the last norm; self_part(i, x) and cross_part(i, x) are layer i's
  // attention to the target and to the memory.
  template <class Self, class Cross>
  Var run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const;
  static void note(const Pass& pass, const Layer& layer, const char* part, const ResidualNorm& made);
  [[nodiscard]] bool self_attends() const { return config_.decoder_self == DecoderSelf::attention; }
  // Queries or keys of cross-attention that stand at `first` and on, turned by their positions where these are rotary.
  [[nodiscard]] Var turned(const Var& x, std::int64_t first) const;

  TransformerConfig config_;
  bool attends_;  // to a memory
  // Embedded tokens that stand at `first` and on, with their positions, normed where the configuration says so.
  [[nodiscard]] Var placed(const Var& x, std::int64_t first) const;

  std::string name_;
  PositionEmbedding positions_;
  LayerNorm embedding_norm_;
  std::vector<Layer> layers_;
  LayerNorm last_;
  mutable RotaryTable turns_;  // of a stepper; a model belongs to one thread at a time
};

}  // namespace fovea
