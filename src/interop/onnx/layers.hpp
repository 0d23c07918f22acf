// Layers as ONNX operators: what the graphs of all kinds of models are made of.
#pragma once

#include <string>

#include "interop/exported_model.hpp"
#include "interop/onnx/graph.hpp"

namespace fovea::interop {

/// Adds operators for a model's layers to a graph; every function gives the name of what it computes.
class OnnxLayers {
 public:
  OnnxLayers(const LoadedModel& model, OnnxGraph& to) : graph(to), model_(model) {}
  /// The same model's layers in another graph.
  [[nodiscard]] OnnxLayers in(OnnxGraph& other) const { return {model_, other}; }

  OnnxGraph& graph;

  [[nodiscard]] const LoadedModel& model() const { return model_; }
  /// A weight by its name in model.safetensors.
  std::string weight(const std::string& name);
  /// Its rows from `begin` to `end`, as a constant of its own.
  std::string rows(const std::string& name, std::int64_t begin, std::int64_t end);
  /// The same [n, m] as [m, n].
  std::string turned(const std::string& name);

  std::string add(const std::string& a, const std::string& b) { return graph.node("Add", {a, b}); }
  std::string times(const std::string& a, const std::string& b) { return graph.node("Mul", {a, b}); }
  std::string times(const std::string& a, float factor) { return times(a, graph.number(factor)); }
  std::string product(const std::string& a, const std::string& b) { return graph.node("MatMul", {a, b}); }
  /// x W + b of the layer NAME.
  std::string linear(const std::string& name, const std::string& x, bool bias = true);
  std::string softmax(const std::string& x);
  std::string transpose(const std::string& x, const std::vector<std::int64_t>& order);
  std::string unsqueeze(const std::string& x, std::int64_t axis);
  std::string squeeze(const std::string& x, std::int64_t axis);
  /// Equal parts along the last axis.
  std::vector<std::string> split(const std::string& x, std::size_t parts);
  std::string cast(const std::string& x, OnnxGraph::Type type);
  /// Zeros of the same shape as x.
  std::string zeros_like(const std::string& x);

  /// Embeddings: ids [batch, length] to [batch, length, width].
  std::string embedded(const std::string& ids, const std::string& table, std::int64_t width, bool scaled);
  /// x [batch, length, width] with the first rows of a table [positions, width] added.
  std::string placed(const std::string& x, const std::string& name, const Tensor& table);

  /// The size of an axis, [1].
  std::string axis_size(const std::string& x, std::int64_t axis);
  /// 0, 1, … of the second axis of x.
  std::string places(const std::string& x);
  /// Whether each place of x [batch, length, ..] lies within its length: [batch, length].
  std::string within(const std::string& lengths, const std::string& x);
  /// 0 where it is visible, else so little that no weight is left.
  std::string mask(const std::string& visible);

 private:
  const LoadedModel& model_;
};

/// What the encoder leaves for the decoder: names of values.
struct OnnxMemory {
  std::string states{};   // [batch, length, width]
  std::string values{};   // of a CNN: what attention reads, of the same shape
  std::string summary{};  // of an RNN: its last states [batch, width]
  std::string lengths{};  // [batch]
};

/// Each kind of encoder: embeddings [batch, length, width] to a memory.
OnnxMemory encode(OnnxLayers& layers, const RnnEncoderConfig& config, const std::string& x, const std::string& lengths);
OnnxMemory encode(OnnxLayers& layers, const CnnConfig& config, const std::string& x, const std::string& lengths);
/// Throws UsageError: the graph of these is not written.
OnnxMemory encode(OnnxLayers& layers, const ParallelCnnConfig& config, const std::string& x,
                  const std::string& lengths);
OnnxMemory encode(OnnxLayers& layers, const TransformerConfig& config, const std::string& x,
                  const std::string& lengths);
OnnxMemory encode(OnnxLayers& layers, const NoEncoderConfig& config, const std::string& x, const std::string& lengths);

/// Each kind of decoder: embeddings [batch, time, width] to the states that the output layer reads.
std::string decode(OnnxLayers& layers, const RnnDecoderConfig& config, const std::string& x, const OnnxMemory& memory);
std::string decode(OnnxLayers& layers, const CnnConfig& config, const std::string& x, const OnnxMemory& memory);
std::string decode(OnnxLayers& layers, const TransformerConfig& config, const std::string& x, const OnnxMemory& memory);

}  // namespace fovea::interop
