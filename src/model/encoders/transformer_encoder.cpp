#include "model/encoders/transformer_encoder.hpp"

#include <algorithm>

#include "fovea/ops.hpp"

namespace fovea {

PositionEmbedding added_positions(const TransformerConfig& config, Parameters& p, const std::string& name) {
  using Kind = PositionEmbedding::Kind;
  Kind kind = Kind::none;
  if (config.positions == Positions::sinusoidal) kind = Kind::sinusoidal;
  if (config.positions == Positions::timing_signal) kind = Kind::timing_signal;
  if (config.positions == Positions::learned) kind = Kind::learned;
  return {p,
          name,
          {.kind = kind,
           .width = config.dim,
           .max_length = config.max_positions,
           .first = config.first_position,
           .scaled = config.scaled_positions}};
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

LayerAttention::LayerAttention(const Pass& pass, AttentionKind kind, int layer, bool want_weights,
                               std::optional<std::int64_t> step)
    : pass_(pass), want_(want_weights) {
  if (pass.interventions != nullptr && pass.interventions->touches(kind, layer)) {
    editor_.emplace(*pass.interventions, kind, layer, step);
  }
}

void LayerAttention::ask(AttendOptions& how, std::int64_t keys) const {
  how.want.weights = want_ && pass_.top == 0;
  how.want.top = want_ ? std::min(pass_.top, keys) : 0;
  how.trace = pass_.trace;
  how.editor = editor_ ? &*editor_ : nullptr;
}

void LayerAttention::take(const Attended& result, std::vector<Var>& weights, std::vector<TopWeights>& top) const {
  if (!want_) return;
  if (pass_.top > 0) {
    top.push_back(result.top);
  } else {
    weights.push_back(result.weights);
  }
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& config, std::int64_t, Parameters& p,
                                       const std::string& name)
    : config_(config), positions_(added_positions(config, p, name + ".positions")), name_(name) {
  const LayerNormOptions epsilon{.epsilon = config.norm_epsilon};
  if (config.embedding_norm) embedding_norm_ = LayerNorm(p, name + ".embedding_norm", config.dim, epsilon);
  for (int i = 0; i < config.layers; ++i) {
    const std::string layer = name + "." + std::to_string(i);
    layers_.push_back({LayerNorm(p, layer + ".self_norm", config.dim, epsilon),
                       LayerNorm(p, layer + ".feed_norm", config.dim, epsilon),
                       MultiHead(p, layer + ".self", head_options(config)),
                       FeedForward(p, layer + ".feed", config.dim, config.ffn,
                                   {.activation = config.activation, .bias = config.bias}),
                       layer});
    layers_.back().feed.approximate_gelu = config.approximate_gelu;
  }
  if (config.norm == Norm::pre) last_ = LayerNorm(p, name + ".norm", config.dim, epsilon);
}

Memory TransformerEncoder::encode(const Sequence& input, Pass& pass, bool want_attention) const {
  Memory memory{.lengths = input.lengths};
  AttendOptions how = self_attention(config_);
  how.lengths = input.lengths;
  const auto attend = [&](const Layer& layer, const Var& x) {
    const LayerAttention ask(pass, AttentionKind::encoder, static_cast<int>(&layer - layers_.data()), want_attention);
    ask.ask(how, x.dim(1));
    how.dropout = pass.next(pass.rates.attention);
    pass.note(layer.name, "self.input", x);
    const Attended result = layer.self(x, x, how);
    ask.take(result, memory.attention, memory.attention_top);
    return result.context;
  };
  Var x = positions_.add_to(input.values);
  if (config_.embedding_norm) x = embedding_norm_(x);
  x = pass.drop(x);
  pass.note(name_, "embedded", x);
  if (config_.norm == Norm::pre) {
    // Each residual sum is made together with the norm that follows it.
    Var normed = layers_[0].self_norm(x);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const ResidualNorm a = layer.feed_norm.residual(x, attend(layer, normed), pass);
      const LayerNorm& next = i + 1 < layers_.size() ? layers_[i + 1].self_norm : last_;
      const ResidualNorm b = next.residual(a.sum, layer.feed(a.normed, pass), pass);
      pass.note(layer.name, "self.sum", a.sum);
      pass.note(layer.name, "self.norm", a.normed);
      pass.note(layer.name, "feed.sum", b.sum);
      pass.note(layer.name, "feed.norm", b.normed);
      x = b.sum;
      normed = b.normed;
    }
    x = normed;
  } else {
    for (const Layer& layer : layers_) {
      const ResidualNorm a = layer.self_norm.residual(x, attend(layer, x), pass);
      const ResidualNorm b = layer.feed_norm.residual(a.normed, layer.feed(a.normed, pass), pass);
      pass.note(layer.name, "self.sum", a.sum);
      pass.note(layer.name, "self.norm", a.normed);
      pass.note(layer.name, "feed.sum", b.sum);
      pass.note(layer.name, "feed.norm", b.normed);
      x = b.normed;
    }
  }
  pass.note(name_, "output", x);
  memory.states = x;
  return memory;
}

}  // namespace fovea
