// Self-attention encoder (Vaswani et al. 2017, section 3.1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/attention/interventions.hpp"
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
    std::string name;  // "encoder.0"
  };

  TransformerConfig config_;
  PositionEmbedding positions_;
  LayerNorm embedding_norm_;  // where the configuration has it
  std::string name_;
  std::vector<Layer> layers_;
  LayerNorm last_;
};

/// What a layer's attention is asked for: its weights, or the largest, and what a pass records or changes of it.
class LayerAttention {
 public:
  LayerAttention(const Pass& pass, AttentionKind kind, int layer, bool want_weights,
                 std::optional<std::int64_t> step = std::nullopt);
  /// Sets `how`; this must outlive the call it is for.
  void ask(AttendOptions& how, std::int64_t keys) const;
  /// Puts what was reported where it was asked for.
  void take(const Attended& result, std::vector<Var>& weights, std::vector<TopWeights>& top) const;

 private:
  const Pass& pass_;
  bool want_;
  std::optional<SiteEditor> editor_;
};

/// The positions that are added to embeddings, and those that attention has.
[[nodiscard]] PositionEmbedding added_positions(const TransformerConfig& config, Parameters& p,
                                                const std::string& name);
[[nodiscard]] AttendOptions self_attention(const TransformerConfig& config);
/// A layer's heads, without or with a memory of another width.
[[nodiscard]] MultiHeadOptions head_options(const TransformerConfig& config, std::int64_t memory = 0);

}  // namespace fovea
