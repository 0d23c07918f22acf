// The layers of a Transformer (Vaswani et al. 2017, section 3.1): what encoder, decoder and decoding step share.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/average.hpp"
#include "fovea/attention/multi_head.hpp"
#include "fovea/model/config.hpp"
#include "fovea/nn/feed_forward.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "fovea/nn/positions.hpp"
#include "fovea/nn/ssru.hpp"
#include "model/layer_attention.hpp"
#include "model/transformer/rotary_table.hpp"

namespace fovea {

/// The weights of one layer.
struct TransformerLayer {
  LayerNorm self_norm, cross_norm, feed_norm;  // before each part, or with Norm::post after its residual sum
  MultiHead self;                              // by the configuration, this one or one of the next two
  Ssru ssru;
  AverageAttention average;
  MultiHead cross;  // only with a memory, as cross_norm
  FeedForward feed;
  std::string name;  // "decoder.0"
};

/// All layers with the positions before and the norm behind them.
struct TransformerStack {
  /// Weights NAME.…; `memory` is the width of what cross-attention reads, 0 without it.
  TransformerStack(const TransformerConfig& configuration, std::int64_t memory, Parameters& p,
                   const std::string& stack_name);

  [[nodiscard]] bool self_attends() const { return config.decoder_self == DecoderSelf::attention; }
  /// Self-attention with the configuration's positions.
  [[nodiscard]] AttendOptions self_options() const;
  /// Embedded tokens at positions `first` and on: positions added, and normed where the configuration says so.
  [[nodiscard]] Var placed(const Var& x, std::int64_t first) const;
  /// Queries or keys of cross-attention at positions `first` and on, turned where their positions are rotary.
  [[nodiscard]] Var turned(const Var& x, std::int64_t first) const;
  /// Layer i's attention of x to itself.
  [[nodiscard]] Var attend_to_self(std::size_t i, const Var& x, AttendOptions how, const AttentionReport& report,
                                   Pass& pass) const;
  /// x [batch, length, dim], placed, through all layers and the last norm; self_part(i, x) and cross_part(i, x) are
  /// layer i's attention to the sequence itself and to the memory.
  template <class Self, class Cross>
  [[nodiscard]] Var run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const;

  TransformerConfig config;
  bool attends;  // to a memory
  std::string name;
  PositionEmbedding positions;
  LayerNorm embedding_norm;  // where the configuration has it
  std::vector<TransformerLayer> layers;
  LayerNorm last;              // of Norm::pre
  mutable RotaryTable angles;  // of decoding steps; a model belongs to one thread at a time

 private:
  static void note(const Pass& pass, const TransformerLayer& layer, const char* part, const ResidualNorm& made);
};

template <class Self, class Cross>
Var TransformerStack::run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const {
  const bool post = config.norm == Norm::post;
  // Each residual sum is computed together with a norm: post-norm with its own, pre-norm with the next part's.
  Var normed = post ? x : layers[0].self_norm(x);
  const auto add = [&](const LayerNorm& norm, const Var& y, const TransformerLayer& layer, const char* part) {
    const ResidualNorm made = norm.residual(x, y, pass);
    note(pass, layer, part, made);
    x = post ? made.normed : made.sum;
    normed = made.normed;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const TransformerLayer& layer = layers[i];
    add(post ? layer.self_norm : attends ? layer.cross_norm : layer.feed_norm, self_part(i, normed), layer, "self");
    if (attends) add(post ? layer.cross_norm : layer.feed_norm, cross_part(i, normed), layer, "cross");
    const LayerNorm& next = i + 1 < layers.size() ? layers[i + 1].self_norm : last;
    add(post ? layer.feed_norm : next, layer.feed(normed, pass), layer, "feed");
  }
  return normed;
}

}  // namespace fovea
