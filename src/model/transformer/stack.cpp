#include "model/transformer/stack.hpp"

#include "fovea/ops.hpp"

namespace fovea {
namespace {

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

// A layer's heads, without or with a memory of another width.
MultiHeadOptions head_options(const TransformerConfig& config, std::int64_t memory) {
  MultiHeadOptions options{.dim = config.dim, .heads = config.heads, .memory_dim = memory, .bias = config.bias};
  if (!config.scaled_scores) options.score = score::Dot{};
  return options;
}

}  // namespace

TransformerStack::TransformerStack(const TransformerConfig& configuration, std::int64_t memory, Parameters& p,
                                   const std::string& stack_name)
    : config(configuration),
      attends(memory > 0),
      name(stack_name),
      positions(added_positions(config, p, name + ".positions")) {
  const LayerNormOptions epsilon{.epsilon = config.norm_epsilon};
  if (config.embedding_norm) embedding_norm = LayerNorm(p, name + ".embedding_norm", config.dim, epsilon);
  for (int i = 0; i < config.layers; ++i) {
    const std::string at = name + "." + std::to_string(i);
    TransformerLayer layer;
    layer.name = at;
    layer.self_norm = LayerNorm(p, at + ".self_norm", config.dim, epsilon);
    if (attends) layer.cross_norm = LayerNorm(p, at + ".cross_norm", config.dim, epsilon);
    layer.feed_norm = LayerNorm(p, at + ".feed_norm", config.dim, epsilon);
    switch (config.decoder_self) {
      case DecoderSelf::attention:
        layer.self = MultiHead(p, at + ".self", head_options(config, 0));
        break;
      case DecoderSelf::ssru:
        layer.ssru = Ssru(p, at + ".ssru", config.dim);
        break;
      case DecoderSelf::average:
        layer.average = AverageAttention(
            p, at + ".average",
            {.dim = config.dim, .inner = config.ffn, .activation = config.activation, .bias = config.bias});
        break;
    }
    if (attends) layer.cross = MultiHead(p, at + ".cross", head_options(config, memory));
    layer.feed =
        FeedForward(p, at + ".feed", config.dim, config.ffn, {.activation = config.activation, .bias = config.bias});
    layers.push_back(std::move(layer));
  }
  if (config.norm == Norm::pre) last = LayerNorm(p, name + ".norm", config.dim, epsilon);
}

AttendOptions TransformerStack::self_options() const {
  AttendOptions how;
  if (is_rotary(config.positions)) how.rotary = Rotary{};
  how.alibi = config.positions == Positions::alibi;
  return how;
}

Var TransformerStack::placed(const Var& x, std::int64_t first) const {
  const Var sum = positions.add_to(x, first);
  return config.embedding_norm ? embedding_norm(sum) : sum;
}

Var TransformerStack::turned(const Var& x, std::int64_t first) const {
  return config.positions == Positions::rotary_cross ? rotary(x, {}, first, config.heads) : x;
}

Var TransformerStack::attend_to_self(std::size_t i, const Var& x, AttendOptions how, const AttentionReport& report,
                                     Pass& pass) const {
  pass.note(layers[i].name, "self.input", x);
  const LayerAttention ask(pass, report, static_cast<int>(i));
  ask.ask(how, x.dim(1));
  how.dropout = pass.next(pass.rates.attention);
  const Attended result = layers[i].self(x, x, how);
  ask.take(result);
  return result.context;
}

void TransformerStack::note(const Pass& pass, const TransformerLayer& layer, const char* part,
                            const ResidualNorm& made) {
  if (pass.trace == nullptr) return;
  pass.note(layer.name + "." + part, "sum", made.sum);
  pass.note(layer.name + "." + part, "norm", made.normed);
}

}  // namespace fovea
