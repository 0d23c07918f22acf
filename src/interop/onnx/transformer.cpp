// A Transformer's encoder and decoder in ONNX.
#include <fmt/format.h>

#include <cmath>

#include "fovea/error.hpp"
#include "interop/onnx/layers.hpp"

namespace fovea::interop {
namespace {

constexpr std::int64_t kComputed = 1024;  // positions, of those that are computed

// Throws for what is not written.
void check(TransformerConfig c) {
  if (c.decoder_self == DecoderSelf::ssru) c.decoder_self = DecoderSelf::attention;  // ONNX has both
  check_transformer(c, "ONNX export");
}

// One side of the model.
class TransformerGraph {
 public:
  TransformerGraph(OnnxLayers& layers, const TransformerConfig& config, std::string side)
      : l_(layers), c_(config), side_(std::move(side)) {}

  std::string placed(const std::string& embedded) {
    const std::string name = side_ + ".positions";
    const std::string x = l_.placed(embedded, name, position_table(l_.model(), c_, side_, kComputed));
    return c_.embedding_norm ? norm(side_ + ".embedding_norm", x) : x;
  }
  // For the keys of a memory, [batch, 1, 1, length].
  std::string padding(const std::string& lengths, const std::string& memory) {
    return l_.graph.node("Unsqueeze", {l_.mask(l_.within(lengths, memory)), l_.graph.numbers({1, 2})});
  }
  // For keys that come later than the query, [length, length].
  std::string causal(const std::string& x) {
    const std::string at = l_.places(x);
    return l_.mask(l_.graph.node("LessOrEqual", {at, l_.unsqueeze(at, 1)}));
  }

  // All layers; `mask` is of self-attention. Without a memory there is no cross-attention.
  std::string layers(std::string x, const std::string& mask, const std::string& memory = {},
                     const std::string& memory_mask = {}) {
    for (int i = 0; i < c_.layers; ++i) {
      const std::string at = fmt::format("{}.{}", side_, i);
      const bool ssru = c_.decoder_self == DecoderSelf::ssru;
      x = block(at + ".self_norm", x, [&](const std::string& y) {
        return ssru ? recurrent(at + ".ssru", y) : attention(at + ".self", y, y, mask);
      });
      if (!memory.empty()) {
        x = block(at + ".cross_norm", x,
                  [&](const std::string& y) { return attention(at + ".cross", y, memory, memory_mask); });
      }
      x = block(at + ".feed_norm", x, [&](const std::string& y) {
        return linear(at + ".feed.second", activated(linear(at + ".feed.first", y)));
      });
    }
    return c_.norm == Norm::pre ? norm(side_ + ".norm", x) : x;
  }

 private:
  std::string linear(const std::string& name, const std::string& x) { return l_.linear(name, x, c_.bias); }
  std::string norm(const std::string& name, const std::string& x) {
    return l_.graph.node("LayerNormalization", {x, l_.weight(name + ".gain"), l_.weight(name + ".bias")},
                         {{"axis", std::int64_t{-1}}, {"epsilon", c_.norm_epsilon}});
  }
  std::string activated(const std::string& x) {
    const auto half = [&](const std::string& gate) {  // x (1 + gate) / 2
      return l_.times(l_.times(x, l_.add(gate, l_.graph.number(1))), 0.5F);
    };
    if (c_.activation == Activation::gelu_tanh) {
      const std::string cube = l_.times(l_.times(x, x), x);
      return half(l_.graph.node("Tanh", {l_.times(l_.add(x, l_.times(cube, 0.044715F)), 0.7978845608F)}));
    }
    if (c_.activation == Activation::relu) return l_.graph.node("Relu", {x});
    if (c_.activation == Activation::gelu) return half(l_.graph.node("Erf", {l_.times(x, 0.7071067812F)}));
    if (c_.activation == Activation::swish) return l_.times(x, l_.graph.node("Sigmoid", {x}));
    throw UsageError("model", fmt::format("the activation {} is not written to ONNX", enum_text(c_.activation)));
  }
  template <class Inner>
  std::string block(const std::string& norm_name, const std::string& x, const Inner& inner) {
    if (c_.norm == Norm::pre) return l_.add(x, inner(norm(norm_name, x)));
    return norm(norm_name, l_.add(x, inner(x)));
  }
  // [batch, length, width] to [batch, heads, length, width / heads], or with the last two exchanged.
  std::string heads(const std::string& x, bool turned) {
    const std::string cut = l_.graph.node("Reshape", {x, l_.graph.numbers({0, 0, c_.heads, c_.dim / c_.heads})});
    return turned ? l_.transpose(cut, {0, 2, 3, 1}) : l_.transpose(cut, {0, 2, 1, 3});
  }
  std::string attention(const std::string& name, const std::string& x, const std::string& memory,
                        const std::string& mask) {
    const std::string q = heads(linear(name + ".query", x), false);
    const std::string k = heads(linear(name + ".key", memory), true);
    const std::string v = heads(linear(name + ".value", memory), false);
    std::string scores = l_.product(q, k);
    if (c_.scaled_scores) scores = l_.times(scores, 1 / std::sqrt(static_cast<float>(c_.dim / c_.heads)));
    const std::string weights = l_.softmax(l_.add(scores, mask));
    const std::string context = l_.transpose(l_.product(weights, v), {0, 2, 1, 3});
    return linear(name + ".output", l_.graph.node("Reshape", {context, l_.graph.numbers({0, 0, c_.dim})}));
  }

  // c_t = s(f_t) c_{t-1} + (1 - s(f_t)) x_t from zeros, y_t = max(c_t, 0): a Scan over time.
  std::string recurrent(const std::string& name, const std::string& y) {
    const std::string x = l_.linear(name + ".input", y, false);
    const std::string keep = l_.graph.node("Sigmoid", {l_.linear(name + ".forget", y)});
    const std::string first = l_.squeeze(
        l_.zeros_like(l_.graph.node("Slice", {x, l_.graph.numbers({0}), l_.graph.numbers({1}), l_.graph.numbers({1})})),
        1);
    OnnxGraph body(name + ".step", &l_.graph);
    const std::vector<std::string> axes{"batch", std::to_string(c_.dim)};
    const std::string cell = body.input(name + ".cell", OnnxGraph::Type::float32, axes);
    const std::string value = body.input(name + ".value", OnnxGraph::Type::float32, axes);
    const std::string share = body.input(name + ".share", OnnxGraph::Type::float32, axes);
    OnnxLayers step = l_.in(body);
    const std::string next = step.add(value, step.times(share, body.node("Sub", {cell, value})));
    body.output(next, name + ".next", axes);
    body.output(body.node("Relu", {next}), name + ".read", axes);
    return l_.graph.nodes("Scan", 2, {first, x, keep},
                          {{"body", &body},
                           {"num_scan_inputs", std::int64_t{2}},
                           {"scan_input_axes", std::vector<std::int64_t>{1, 1}},
                           {"scan_output_axes", std::vector<std::int64_t>{1}}})[1];
  }

  OnnxLayers& l_;
  const TransformerConfig& c_;
  std::string side_;
};

}  // namespace

OnnxMemory encode(OnnxLayers& layers, const TransformerConfig& config, const std::string& x,
                  const std::string& lengths) {
  check(config);
  TransformerGraph g(layers, config, "encoder");
  const std::string states = g.layers(g.placed(x), g.padding(lengths, x));
  return {.states = states, .lengths = lengths};
}

std::string decode(OnnxLayers& layers, const TransformerConfig& config, const std::string& x,
                   const OnnxMemory& memory) {
  check(config);
  TransformerGraph g(layers, config, "decoder");
  return g.layers(g.placed(x), g.causal(x), memory.states, g.padding(memory.lengths, memory.states));
}

}  // namespace fovea::interop
