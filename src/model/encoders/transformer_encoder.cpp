#include "model/encoders/transformer_encoder.hpp"

#include "fovea/ops.hpp"

namespace fovea {

PositionEmbedding added_positions(const TransformerConfig& config, Parameters& p, const std::string& name) {
  using Kind = PositionEmbedding::Kind;
  Kind kind = Kind::none;
  if (config.positions == Positions::sinusoidal) kind = Kind::sinusoidal;
  if (config.positions == Positions::timing_signal) kind = Kind::timing_signal;
  if (config.positions == Positions::learned) kind = Kind::learned;
  return {p,          name,
          kind,       config.max_positions,
          config.dim, {.first = config.first_position, .scaled = config.scaled_positions}};
}

AttendOptions self_attention(const TransformerConfig& config) {
  AttendOptions how;
  if (is_rotary(config.positions)) how.rotary = Rotary{};
  how.alibi = config.positions == Positions::alibi;
  return how;
}

MultiHeadOptions head_options(const TransformerConfig& config, std::int64_t memory) {
  MultiHeadOptions options{.dim = config.dim, .heads = config.heads, .memory_dim = memory, .bias = config.bias};
  if (!config.scaled_scores) options.score = score::Dot{};
  return options;
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& config, std::int64_t, Parameters& p,
                                       const std::string& name)
    : config_(config), positions_(added_positions(config, p, name + ".positions")) {
  const float epsilon = config.norm_epsilon;
  if (config.embedding_norm) embedding_norm_ = LayerNorm(p, name + ".embedding_norm", config.dim, epsilon);
  for (int i = 0; i < config.layers; ++i) {
    const std::string layer = name + "." + std::to_string(i);
    layers_.push_back({LayerNorm(p, layer + ".self_norm", config.dim, epsilon),
                       LayerNorm(p, layer + ".feed_norm", config.dim, epsilon),
                       MultiHead(p, layer + ".self", head_options(config)),
                       FeedForward(p, layer + ".feed", config.dim, config.ffn, config.activation, config.bias)});
    layers_.back().feed.approximate_gelu = config.approximate_gelu;
  }
  if (config.norm == Norm::pre) last_ = LayerNorm(p, name + ".norm", config.dim, epsilon);
}

Memory TransformerEncoder::encode(const Sequence& input, Pass& pass, bool want_attention) const {
  Memory memory{.lengths = input.lengths};
  AttendOptions how = self_attention(config_);
  how.lengths = input.lengths;
  how.want.weights = want_attention;
  const auto attend = [&](const Layer& layer, const Var& x) {
    how.dropout = pass.next(pass.rates.attention);
    const Attended result = layer.self(x, x, how);
    if (want_attention) memory.attention.push_back(result.weights);
    return result.context;
  };
  Var x = positions_.add_to(input.values);
  if (config_.embedding_norm) x = embedding_norm_(x);
  x = pass.drop(x);
  if (config_.norm == Norm::pre) {
    // Each residual sum is made together with the norm that follows it.
    Var normed = layers_[0].self_norm(x);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const ResidualNorm a = layer.feed_norm.residual(x, attend(layer, normed), pass);
      const LayerNorm& next = i + 1 < layers_.size() ? layers_[i + 1].self_norm : last_;
      const ResidualNorm b = next.residual(a.sum, layer.feed(a.normed, pass), pass);
      x = b.sum;
      normed = b.normed;
    }
    x = normed;
  } else {
    for (const Layer& layer : layers_) {
      x = layer.self_norm.residual(x, attend(layer, x), pass).normed;
      x = layer.feed_norm.residual(x, layer.feed(x, pass), pass).normed;
    }
  }
  memory.states = x;
  return memory;
}

}  // namespace fovea
