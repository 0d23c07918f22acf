// A convolutional encoder and decoder (Gehring et al. 2017) in ONNX.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "fovea/error.hpp"
#include "interop/onnx/layers.hpp"

namespace fovea::interop {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

// Learned positions count as much as the embeddings, which are scaled too.
std::string cnn_placed(OnnxLayers& l, const std::string& side, const std::string& x) {
  const Tensor table = weight_of(l.model(), side + ".positions").clone();
  for (float& v : table.values()) v *= std::sqrt(static_cast<float>(table.dim(1)));
  return l.placed(x, side + ".positions", table);
}

// [kernel channels, out] to ONNX's [out, channels, kernel].
Tensor filters(const Tensor& weight, std::int64_t kernel) {
  const std::int64_t channels = weight.dim(0) / kernel;
  const std::int64_t out = weight.dim(1);
  return weight.contiguous().reshape({kernel, channels, out}).transpose(0, 2);
}

// A gated convolution over time, [batch, length, width] to the same; `before` steps of a window lie before its own.
std::string gated_convolution(OnnxLayers& l, const std::string& name, const std::string& x, const CnnConfig& c,
                              std::int64_t before) {
  const std::string w = l.graph.constant(name + ".filters", filters(weight_of(l.model(), name + ".weight"), c.kernel));
  const std::string sums = l.graph.node("Conv", {l.transpose(x, {0, 2, 1}), w, l.weight(name + ".bias")},
                                        {{"kernel_shape", std::vector<std::int64_t>{c.kernel}},
                                         {"pads", std::vector<std::int64_t>{before, c.kernel - 1 - before}}});
  const auto parts = l.split(l.transpose(sums, {0, 2, 1}), 2);
  return l.times(parts[0], l.graph.node("Sigmoid", {parts[1]}));
}

}  // namespace

OnnxMemory encode(OnnxLayers& l, const CnnConfig& c, const std::string& embedded, const std::string& lengths) {
  const std::string e = cnn_placed(l, "encoder", embedded);
  const std::string real = l.unsqueeze(l.cast(l.within(lengths, e), OnnxGraph::Type::float32), 2);
  std::string x = l.linear("encoder.in", e);
  for (int i = 0; i < c.layers; ++i) {
    const std::string name = fmt::format("encoder.{}", i);
    x = l.times(l.add(x, gated_convolution(l, name, l.times(x, real), c, (c.kernel - 1) / 2)), kHalf);
  }
  const std::string z = l.linear("encoder.out", x);
  return {.states = z, .values = l.times(l.add(z, e), kHalf), .lengths = lengths};
}

OnnxMemory encode(OnnxLayers&, const ParallelCnnConfig& c, const std::string&, const std::string&) {
  throw UsageError("model", fmt::format("ONNX export takes an rnn, cnn or transformer encoder, not {}", c.kind));
}

std::string decode(OnnxLayers& l, const CnnConfig& c, const std::string& embedded, const OnnxMemory& memory) {
  const std::int64_t width = l.model().config.generator().embedding;
  const std::string e = cnn_placed(l, "decoder", embedded);
  const bool projected = l.model().parameters.find("decoder.memory.weight") != nullptr;
  const auto read = [&](const std::string& x) { return projected ? l.linear("decoder.memory", x) : x; };
  const std::string keys = l.transpose(read(memory.states), {0, 2, 1});
  const std::string values = read(memory.values.empty() ? memory.states : memory.values);
  const std::string mask = l.unsqueeze(l.mask(l.within(memory.lengths, memory.states)), 1);
  std::string x = l.linear("decoder.in", e);
  for (int i = 0; i < c.layers; ++i) {
    const std::string name = fmt::format("decoder.{}", i);
    const std::string y = gated_convolution(l, name, x, c, c.kernel - 1);
    const std::string query = l.times(l.add(l.linear(name + ".query", y), e), kHalf);
    const std::string scores = l.times(l.product(query, keys), 1 / std::sqrt(static_cast<float>(width)));
    const std::string context = l.product(l.softmax(l.add(scores, mask)), values);
    const std::string mixed = l.times(l.add(y, l.linear(name + ".context", context)), kHalf);
    x = l.times(l.add(mixed, x), kHalf);
  }
  return l.linear("decoder.out", x);
}

}  // namespace fovea::interop
