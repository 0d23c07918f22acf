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
                       MultiHeadLayer(p, name + ".self", width_, width_, config.heads),
                       FeedForward(p, name + ".feed", width_, config.ffn)});
  }
  if (norm_ == Norm::pre) last_ = LayerNorm(p, "encoder.norm", width_);
}

Memory TransformerEncoder::encode(const Var& embedded, const Tokens& source, Pass& pass) const {
  const MultiHeadLayer::Options how{
      .lengths = source.lengths, .rotary = kind_ == Positions::rotary, .alibi = kind_ == Positions::alibi};
  Var x = pass.drop(positions_.add_to(embedded));
  for (const Layer& layer : layers_) {
    if (norm_ == Norm::pre) {
      const Var seen = layer.before_self(x);
      x = add(x, pass.drop(layer.self(seen, seen, how, pass).output));
      x = add(x, pass.drop(layer.feed(layer.before_feed(x), pass)));
    } else {
      x = layer.before_self(add(x, pass.drop(layer.self(x, x, how, pass).output)));
      x = layer.before_feed(add(x, pass.drop(layer.feed(x, pass))));
    }
  }
  if (norm_ == Norm::pre) x = last_(x);
  return {.states = x, .lengths = source.lengths};
}

}  // namespace fovea
