#include "interop/onnx/layers.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fovea::interop {

namespace {

constexpr float kHidden = -1e30F;  // added to the score of a key that is not visible

}  // namespace

std::string OnnxLayers::weight(const std::string& name) {
  return graph.constant(name, weight_of(model_, name));
}

std::string OnnxLayers::rows(const std::string& name, std::int64_t begin, std::int64_t end) {
  return graph.constant(fmt::format("{}[{}:{}]", name, begin, end), weight_of(model_, name).slice(0, begin, end));
}

std::string OnnxLayers::turned(const std::string& name) {
  return graph.constant(name + ".turned", weight_of(model_, name).transpose(0, 1));
}

std::string OnnxLayers::linear(const std::string& name, const std::string& x, bool bias) {
  const std::string y = product(x, weight(name + ".weight"));
  return bias ? add(y, weight(name + ".bias")) : y;
}

std::string OnnxLayers::softmax(const std::string& x) {
  return graph.node("Softmax", {x}, {{"axis", std::int64_t{-1}}});
}

std::string OnnxLayers::transpose(const std::string& x, const std::vector<std::int64_t>& order) {
  return graph.node("Transpose", {x}, {{"perm", order}});
}

std::string OnnxLayers::unsqueeze(const std::string& x, std::int64_t axis) {
  return graph.node("Unsqueeze", {x, graph.numbers({axis})});
}

std::string OnnxLayers::squeeze(const std::string& x, std::int64_t axis) {
  return graph.node("Squeeze", {x, graph.numbers({axis})});
}

std::vector<std::string> OnnxLayers::split(const std::string& x, std::size_t parts) {
  return graph.nodes("Split", parts, {x}, {{"axis", std::int64_t{-1}}});
}

std::string OnnxLayers::cast(const std::string& x, OnnxGraph::Type type) {
  return graph.node("Cast", {x}, {{"to", static_cast<std::int64_t>(type)}});
}

std::string OnnxLayers::zeros_like(const std::string& x) {
  return graph.node("ConstantOfShape", {graph.node("Shape", {x})});
}

std::string OnnxLayers::embedded(const std::string& ids, const std::string& table, std::int64_t width, bool scaled) {
  const std::string x = graph.node("Gather", {weight(table), ids});
  return scaled ? times(x, std::sqrt(static_cast<float>(width))) : x;
}

std::string OnnxLayers::placed(const std::string& x, const std::string& name, const Tensor& table) {
  const std::string all = graph.constant(name, table);
  return add(x, graph.node("Slice", {all, graph.numbers({0}), axis_size(x, 1), graph.numbers({0})}));
}

std::string OnnxLayers::axis_size(const std::string& x, std::int64_t axis) {
  return graph.node("Slice", {graph.node("Shape", {x}), graph.numbers({axis}), graph.numbers({axis + 1})});
}

std::string OnnxLayers::places(const std::string& x) {
  return graph.node("Range", {graph.numbers({0}, true), squeeze(axis_size(x, 1), 0), graph.numbers({1}, true)});
}

std::string OnnxLayers::within(const std::string& lengths, const std::string& x) {
  return graph.node("Less", {places(x), unsqueeze(lengths, 1)});
}

std::string OnnxLayers::mask(const std::string& visible) {
  return graph.node("Where", {visible, graph.number(0), graph.number(kHidden)});
}

}  // namespace fovea::interop
