#include "interop/onnx/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"

namespace fovea::interop {
namespace {

// Protobuf's wire format: a field is its number and kind as a varint, then a varint, four bytes, or a length and bytes.
void varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7F));
  out += static_cast<char>(value);
}
void field(std::string& out, int number, std::int64_t value) {
  varint(out, static_cast<std::uint64_t>(number) << 3);
  varint(out, static_cast<std::uint64_t>(value));
}
void field(std::string& out, int number, float value) {
  varint(out, static_cast<std::uint64_t>(number) << 3 | 5);
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out.append(bytes, sizeof(value));
}
void field(std::string& out, int number, std::string_view bytes) {
  varint(out, static_cast<std::uint64_t>(number) << 3 | 2);
  varint(out, bytes.size());
  out += bytes;
}

bool is_number(const std::string& axis) {
  return !axis.empty() && axis.find_first_not_of("0123456789") == std::string::npos;
}

// ValueInfoProto: name, and the type with its shape.
std::string value_info(const std::string& name, OnnxGraph::Type type, const std::vector<std::string>& axes) {
  std::string shape;
  for (const std::string& axis : axes) {
    std::string dim;
    if (is_number(axis)) {
      field(dim, 1, static_cast<std::int64_t>(std::stoll(axis)));
    } else {
      field(dim, 2, axis);
    }
    field(shape, 1, dim);
  }
  std::string tensor;
  field(tensor, 1, static_cast<std::int64_t>(type));
  field(tensor, 2, shape);
  std::string holder;
  field(holder, 1, tensor);
  std::string info;
  field(info, 1, name);
  field(info, 2, holder);
  return info;
}

}  // namespace

std::string OnnxGraph::attribute_bytes(const Attribute& a) {
  std::string out;
  field(out, 1, a.name);
  std::int64_t type = 0;  // ONNX's number
  if (const auto* integer = std::get_if<std::int64_t>(&a.value)) {
    field(out, 3, *integer);
    type = 2;
  } else if (const auto* real = std::get_if<float>(&a.value)) {
    field(out, 2, *real);
    type = 1;
  } else if (const auto* text = std::get_if<std::string>(&a.value)) {
    field(out, 4, *text);
    type = 3;
  } else if (const auto* graph = std::get_if<const OnnxGraph*>(&a.value)) {
    field(out, 6, (*graph)->bytes());
    type = 5;
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(a.value)) field(out, 8, value);
    type = 7;
  }
  field(out, 20, type);
  return out;
}

std::string OnnxGraph::fresh(std::string_view kind) {
  return fmt::format("{}.{}_{}", name_, kind, count_++);
}

std::string OnnxGraph::input(const std::string& name, Type type, const std::vector<std::string>& axes) {
  field(inputs_, 11, value_info(name, type, axes));
  return name;
}

void OnnxGraph::output(const std::string& value, const std::string& name, const std::vector<std::string>& axes) {
  std::string bytes;
  field(bytes, 1, value);
  field(bytes, 2, name);
  field(bytes, 4, std::string_view("Identity"));
  field(nodes_, 1, bytes);
  field(outputs_, 12, value_info(name, Type::float32, axes));
}

void OnnxGraph::initializer(const std::string& name, Type type, const std::vector<std::int64_t>& dims,
                            const void* values, std::size_t bytes) {
  std::string tensor;
  for (const std::int64_t dim : dims) field(tensor, 1, dim);
  field(tensor, 2, static_cast<std::int64_t>(type));
  field(tensor, 8, name);
  field(tensor, 9, std::string_view(static_cast<const char*>(values), bytes));
  field(initializers_, 5, tensor);
}

std::string OnnxGraph::constant(const std::string& name, const Tensor& values) {
  if (around_ != nullptr) return around_->constant(name, values);
  if (std::find(constants_.begin(), constants_.end(), name) != constants_.end()) return name;
  constants_.push_back(name);
  const Tensor t = values.contiguous();
  std::vector<std::int64_t> dims;
  for (int i = 0; i < t.rank(); ++i) dims.push_back(t.dim(i));
  initializer(name, Type::float32, dims, t.data(), static_cast<std::size_t>(t.size()) * sizeof(float));
  return name;
}

std::string OnnxGraph::numbers(const std::vector<std::int64_t>& values, bool scalar) {
  if (around_ != nullptr) return around_->numbers(values, scalar);
  const std::string name = fresh("numbers");
  std::vector<std::int64_t> dims;
  if (!scalar) dims.push_back(static_cast<std::int64_t>(values.size()));
  initializer(name, Type::int64, dims, values.data(), values.size() * sizeof(std::int64_t));
  return name;
}

std::string OnnxGraph::number(float value) {
  if (around_ != nullptr) return around_->number(value);
  const std::string name = fresh("number");
  initializer(name, Type::float32, {}, &value, sizeof(value));
  return name;
}

std::string OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<Attribute>& attributes) {
  return nodes(op, 1, inputs, attributes).front();
}

std::vector<std::string> OnnxGraph::nodes(const std::string& op, std::size_t outputs,
                                          const std::vector<std::string>& inputs,
                                          const std::vector<Attribute>& attributes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(fresh(op));
  std::string bytes;
  for (const std::string& in : inputs) field(bytes, 1, in);
  for (const std::string& out : names) field(bytes, 2, out);
  field(bytes, 3, names.front());
  field(bytes, 4, op);
  for (const Attribute& a : attributes) field(bytes, 5, attribute_bytes(a));
  field(nodes_, 1, bytes);
  return names;
}

std::string OnnxGraph::bytes() const {
  std::string graph = nodes_;
  field(graph, 2, name_);
  graph += initializers_ + inputs_ + outputs_;
  return graph;
}

void OnnxGraph::write(const std::filesystem::path& file) const {
  std::string opset;
  field(opset, 1, std::string_view(""));
  field(opset, 2, std::int64_t{17});
  std::string model;
  field(model, 1, std::int64_t{8});  // the version of the format
  field(model, 2, std::string_view("fovea"));
  field(model, 7, bytes());
  field(model, 8, opset);
  if (model.size() > 0x7FFFFFFF) {
    throw UsageError(
        "model", fmt::format("{} would have {} bytes; ONNX files have less than 2 GiB", file.string(), model.size()));
  }
  write_whole_file(file, model);
}

}  // namespace fovea::interop
