#include "model/transformer_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

PositionEmbedding::Kind added_positions(Positions positions) {
  switch (positions) {
    case Positions::sinusoidal:
      return PositionEmbedding::Kind::sinusoidal;
    case Positions::learned:
      return PositionEmbedding::Kind::learned;
    default:
      return PositionEmbedding::Kind::none;
  }
}

TransformerEncoder::TransformerEncoder(const ModelConfig& config, Parameters& p)
    : width_(config.dim),
      norm_(config.norm),
      kind_(config.positions),
      positions_(p, "encoder.positions", added_positions(config.positions), config.max_positions, config.dim) {
  for (int i = 0; i < config.encoder_layers(); ++i) {
    const std::string name = "encoder." + std::to_string(i);
    layers_.push_back({LayerNorm(p, name + ".self_norm", width_), LayerNorm(p, name + ".feed_norm", width_),
                       MultiHeadLayer(p, name + ".self", width_, width_, config.heads, config.divided_scores()),
                       FeedForward(p, name + ".feed", width_, config.ffn)});
  }
  if (norm_ == Norm::pre) last_ = LayerNorm(p, "encoder.norm", width_);
}

Memory TransformerEncoder::encode(const Var& embedded, const Tokens& source, Pass& pass) const {
  const MultiHeadLayer::Options how{
      .lengths = source.lengths, .rotary = is_rotary(kind_), .alibi = kind_ == Positions::alibi};
  Var x = pass.drop(positions_.add_to(embedded));
  if (norm_ == Norm::pre) {
    // Each residual sum is made together with the norm that follows it.
    Var seen = layers_[0].before_self(x);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const ResidualNorm a = residual(x, layer.self(seen, seen, how, pass).output, layer.before_feed, pass);
      const LayerNorm& next = i + 1 < layers_.size() ? layers_[i + 1].before_self : last_;
      const ResidualNorm b = residual(a.sum, layer.feed(a.normed, pass), next, pass);
      x = b.sum;
      seen = b.normed;
    }
    x = seen;
  } else {
    for (const Layer& layer : layers_) {
      x = residual(x, layer.self(x, x, how, pass).output, layer.before_self, pass).normed;
      x = residual(x, layer.feed(x, pass), layer.before_feed, pass).normed;
    }
  }
  return {.states = x, .lengths = source.lengths};
}

}  // namespace fovea
