// ONNX graphs, built node by node and written as protobuf.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/tensor.hpp"

namespace fovea::interop {

/// A graph of ONNX's operators (opset 17). Each call of node() adds an operator and gives the name of its output, so a
/// graph reads as the formula it computes. A tensor that is used several times is stored once.
///
///     OnnxGraph graph("encoder");
///     const std::string x = graph.input("source", OnnxGraph::Type::int64, {"batch", "length"});
///     graph.output(graph.node("Gather", {graph.constant("table", table), x}), "memory", {"batch", "length", "16"});
class OnnxGraph {
 public:
  enum class Type { float32 = 1, int32 = 6, int64 = 7 };  // ONNX's numbers
  /// A whole number, whole numbers, a float, a text, or a graph that an operator runs.
  struct Attribute {
    std::string name;
    std::variant<std::int64_t, std::vector<std::int64_t>, float, std::string, const OnnxGraph*> value;
  };

  /// `around`: the graph that has the operator that runs this one. Its values can be used here, and constants are
  /// stored there. Both need names of their own.
  explicit OnnxGraph(std::string name, OnnxGraph* around = nullptr) : name_(std::move(name)), around_(around) {}

  /// An axis is a number, or a name where it is free.
  std::string input(const std::string& name, Type type, const std::vector<std::string>& axes);
  void output(const std::string& value, const std::string& name, const std::vector<std::string>& axes);
  std::string constant(const std::string& name, const Tensor& values);
  std::string numbers(const std::vector<std::int64_t>& values, bool scalar = false);
  std::string number(float value);
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});
  /// An operator with several outputs. An input that is left out is an empty name.
  std::vector<std::string> nodes(const std::string& op, std::size_t outputs, const std::vector<std::string>& inputs,
                                 const std::vector<Attribute>& attributes = {});

  /// The model file. Throws UsageError when it would be larger than protobuf allows.
  void write(const std::filesystem::path& file) const;

 private:
  [[nodiscard]] std::string fresh(std::string_view kind);
  [[nodiscard]] std::string bytes() const;
  [[nodiscard]] static std::string attribute_bytes(const Attribute& attribute);
  void initializer(const std::string& name, Type type, const std::vector<std::int64_t>& dims, const void* values,
                   std::size_t bytes);

  std::string name_;
  OnnxGraph* around_;
  std::string nodes_, initializers_, inputs_, outputs_;  // protobuf, each with its tags
  std::vector<std::string> constants_;                   // names
  int count_ = 0;
};

}  // namespace fovea::interop
