// Two ONNX graphs of a Transformer (opset 17). encoder.onnx: source [batch, length] and lengths [batch] to memory.
// decoder.onnx: target [batch, time], which starts with <s>, memory and lengths to the logits of every place.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "interop/exported_model.hpp"
#include "interop/onnx_graph.hpp"

namespace fovea::interop {
namespace {

constexpr std::int64_t kComputed = 1024;  // of those that are computed
constexpr float kHidden = -1e30F;         // added to the score of a key that is not visible

using Type = OnnxGraph::Type;

// One side of the model.
class TransformerGraph {
 public:
  TransformerGraph(const LoadedModel& model, const TransformerConfig& config, const std::string& side)
      : graph(side), model_(model), c_(config), side_(side) {}

  OnnxGraph graph;

  // Embedded, scaled and placed: ids [batch, length] to [batch, length, width].
  std::string placed(const std::string& ids, const std::string& table, bool scaled) {
    const std::string length = axis_size(ids, 1);
    std::string x = graph.node("Gather", {graph.constant(table, weight_of(model_, table)), ids});
    if (scaled) x = graph.node("Mul", {x, graph.number(std::sqrt(static_cast<float>(c_.dim)))});
    const std::string all = graph.constant(side_ + ".positions", position_table(model_, c_, side_, kComputed));
    const std::string some = graph.node("Slice", {all, graph.numbers({0}), length, graph.numbers({0})});
    x = graph.node("Add", {x, some});
    return c_.embedding_norm ? norm(side_ + ".embedding_norm", x) : x;
  }

  // 0 for the keys within their lengths, else kHidden: [batch, 1, 1, length].
  std::string padding(const std::string& lengths, const std::string& sequence) {
    const std::string real =
        graph.node("Less", {places(sequence), graph.node("Unsqueeze", {lengths, graph.numbers({1})})});
    return graph.node("Unsqueeze", {where(real), graph.numbers({1, 2})});
  }
  // The same for keys that come later than the query: [length, length].
  std::string causal(const std::string& sequence) {
    const std::string at = places(sequence);
    return where(graph.node("LessOrEqual", {at, graph.node("Unsqueeze", {at, graph.numbers({1})})}));
  }

  std::string norm(const std::string& name, const std::string& x) {
    return graph.node("LayerNormalization", {x, weight(name + ".gain"), weight(name + ".bias")},
                      {{"axis", std::int64_t{-1}}, {"epsilon", c_.norm_epsilon}});
  }

  // All layers; `mask` is of self-attention. Without a memory there is no cross-attention.
  std::string layers(std::string x, const std::string& mask, const std::string& memory = {},
                     const std::string& memory_mask = {}) {
    for (int i = 0; i < c_.layers; ++i) {
      const std::string at = fmt::format("{}.{}", side_, i);
      x = block(at + ".self_norm", x, [&](const std::string& y) { return attention(at + ".self", y, y, mask); });
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
  std::string weight(const std::string& name) { return graph.constant(name, weight_of(model_, name)); }
  std::string axis_size(const std::string& x, std::int64_t axis) {  // [1]
    return graph.node("Slice", {graph.node("Shape", {x}), graph.numbers({axis}), graph.numbers({axis + 1})});
  }
  std::string places(const std::string& sequence) {  // 0, 1, … length - 1
    const std::string length = graph.node("Squeeze", {axis_size(sequence, 1), graph.numbers({0})});
    return graph.node("Range", {graph.numbers({0}, true), length, graph.numbers({1}, true)});
  }
  std::string where(const std::string& visible) {
    return graph.node("Where", {visible, graph.number(0), graph.number(kHidden)});
  }
  std::string linear(const std::string& name, const std::string& x) {
    const std::string y = graph.node("MatMul", {x, weight(name + ".weight")});
    return c_.bias ? graph.node("Add", {y, weight(name + ".bias")}) : y;
  }
  std::string activated(const std::string& x) {
    const auto half = [&](const std::string& gate) {  // x (1 + gate) / 2
      const std::string both = graph.node("Add", {gate, graph.number(1)});
      return graph.node("Mul", {graph.node("Mul", {x, both}), graph.number(0.5F)});
    };
    if (c_.approximate_gelu) {
      const std::string cube = graph.node("Mul", {graph.node("Mul", {x, x}), x});
      const std::string inner = graph.node("Add", {x, graph.node("Mul", {cube, graph.number(0.044715F)})});
      return half(graph.node("Tanh", {graph.node("Mul", {inner, graph.number(0.7978845608F)})}));
    }
    if (c_.activation == Activation::relu) return graph.node("Relu", {x});
    if (c_.activation == Activation::gelu) {
      return half(graph.node("Erf", {graph.node("Mul", {x, graph.number(0.7071067812F)})}));
    }
    if (c_.activation == Activation::swish) return graph.node("Mul", {x, graph.node("Sigmoid", {x})});
    throw UsageError(fmt::format("model: the activation {} is not written to ONNX", enum_text(c_.activation)));
  }
  template <class Inner>
  std::string block(const std::string& norm_name, const std::string& x, const Inner& inner) {
    if (c_.norm == Norm::pre) return graph.node("Add", {x, inner(norm(norm_name, x))});
    return norm(norm_name, graph.node("Add", {x, inner(x)}));
  }
  // [batch, length, width] to [batch, heads, length, width / heads], or with the last two exchanged.
  std::string split(const std::string& x, bool turned) {
    const std::string cut = graph.node("Reshape", {x, graph.numbers({0, 0, c_.heads, c_.dim / c_.heads})});
    const std::vector<std::int64_t> order =
        turned ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3};
    return graph.node("Transpose", {cut}, {{"perm", order}});
  }
  std::string attention(const std::string& name, const std::string& x, const std::string& memory,
                        const std::string& mask) {
    const std::string q = split(linear(name + ".query", x), false);
    const std::string k = split(linear(name + ".key", memory), true);
    const std::string v = split(linear(name + ".value", memory), false);
    const float scale = 1 / std::sqrt(static_cast<float>(c_.dim / c_.heads));
    std::string scores = graph.node("Mul", {graph.node("MatMul", {q, k}), graph.number(scale)});
    scores = graph.node("Add", {scores, mask});
    const std::string weights = graph.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string context = graph.node("Transpose", {graph.node("MatMul", {weights, v})},
                                           {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    return linear(name + ".output", graph.node("Reshape", {context, graph.numbers({0, 0, c_.dim})}));
  }

  const LoadedModel& model_;
  const TransformerConfig& c_;
  std::string side_;
};

std::string list_of_tokens(const Tokenizer& tokenizer) {
  nlohmann::json tokens = nlohmann::json::array();
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) tokens.push_back(tokenizer.piece(id));
  return tokens.dump(0) + "\n";
}

}  // namespace

void export_onnx(const LoadedModel& model, const std::filesystem::path& out) {
  const auto [encoder, decoder] = transformers_of(model.config, "ONNX export");
  const TableNames names = tables_of(model);
  const std::string width = std::to_string(encoder.dim);
  {
    TransformerGraph g(model, encoder, "encoder");
    const std::string source = g.graph.input("source", Type::int64, {"batch", "length"});
    const std::string lengths = g.graph.input("lengths", Type::int64, {"batch"});
    const std::string mask = g.padding(lengths, source);
    const std::string x = g.placed(source, names.source, model.config.tokens().scaled_embeddings);
    g.graph.output(g.layers(x, mask), "memory", {"batch", "length", width});
    g.graph.write(out / "encoder.onnx");
  }
  TransformerGraph g(model, decoder, "decoder");
  const std::string target = g.graph.input("target", Type::int64, {"batch", "time"});
  const std::string memory = g.graph.input("memory", Type::float32, {"batch", "length", width});
  const std::string lengths = g.graph.input("lengths", Type::int64, {"batch"});
  const std::string x = g.placed(target, names.target, model.config.generator().scaled_embeddings);
  const std::string states = g.layers(x, g.causal(target), memory, g.padding(lengths, memory));
  const std::string rows = g.graph.constant(names.output, weight_of(model, names.output));
  const std::string turned = g.graph.node("Transpose", {rows}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const std::string bias = g.graph.constant("output.bias", weight_of(model, "output.bias"));
  g.graph.output(g.graph.node("Add", {g.graph.node("MatMul", {states, turned}), bias}), "logits",
                 {"batch", "time", std::to_string(model.config.generator().vocabulary)});
  g.graph.write(out / "decoder.onnx");
  write_whole_file(out / "source_vocabulary.json", list_of_tokens(*model.tokenizers.source));
  write_whole_file(out / "target_vocabulary.json", list_of_tokens(*model.tokenizers.target));
  write_spm(*model.tokenizers.source, out, "source");
  write_spm(*model.tokenizers.target, out, "target");
}

}  // namespace fovea::interop
