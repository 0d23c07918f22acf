#include "interop/foreign_tensors.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "tensor/convert.hpp"

namespace fovea::interop {

std::size_t bytes_of(ForeignType type) {
  switch (type) {
    case ForeignType::f64:
    case ForeignType::i64:
      return 8;
    case ForeignType::f32:
    case ForeignType::i32:
      return 4;
    case ForeignType::f16:
    case ForeignType::bf16:
    case ForeignType::i16:
      return 2;
    case ForeignType::i8:
    case ForeignType::u8:
      return 1;
  }
  return 0;
}

Shape checked_shape(std::span<const std::uint64_t> sizes, const std::string& where) {
  if (sizes.size() > static_cast<std::size_t>(Shape::kMaxRank)) {
    throw FileError(fmt::format("{}: {} axes, at most {} are possible", where, sizes.size(), Shape::kMaxRank));
  }
  std::uint64_t total = 1;
  Shape shape;
  for (const std::uint64_t size : sizes) {
    if (size > (std::uint64_t{1} << 48) || __builtin_mul_overflow(total, size == 0 ? 1 : size, &total) ||
        total > (std::uint64_t{1} << 56)) {
      throw FileError(where + ": the shape is larger than any file");
    }
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return shape;
}

void ForeignTensors::fail(const std::string& what) const {
  throw FileError(file_ + ": " + what);
}

void ForeignTensors::add(const std::string& name, Item item) {
  const auto needed = static_cast<std::uint64_t>(item.shape.size()) * bytes_of(item.type);
  if (needed != item.bytes.size()) {
    fail(fmt::format("tensor {} of shape {} needs {} bytes, {} are there", name, item.shape.text(), needed,
                     item.bytes.size()));
  }
  if (!items_.emplace(name, std::make_shared<Item>(std::move(item))).second) {
    fail(fmt::format("duplicate tensor {}", name));
  }
}

void ForeignTensors::alias(const std::string& name, const std::string& of) {
  const auto found = items_.find(of);
  if (found == items_.end()) fail(fmt::format("{} stands for {}, which is not there", name, of));
  if (!items_.emplace(name, found->second).second) fail(fmt::format("duplicate tensor {}", name));
}

std::vector<std::string> ForeignTensors::names() const {
  std::vector<std::string> all;
  for (const auto& [name, item] : items_) all.push_back(name);
  return all;
}

const ForeignTensors::Item& ForeignTensors::item(std::string_view name) const {
  const auto found = items_.find(name);
  if (found == items_.end()) fail(fmt::format("tensor {} is missing", name));
  return *found->second;
}

bool ForeignTensors::same(std::string_view a, std::string_view b) const {
  const Item& one = item(a);
  const Item& other = item(b);
  return &one == &other || (one.type == other.type && one.shape == other.shape &&
                            std::equal(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end()));
}

Tensor ForeignTensors::take(std::string_view name) {
  const auto found = items_.find(name);
  if (found == items_.end()) fail(fmt::format("tensor {} is missing", name));
  Item& item = *found->second;
  item.taken = true;
  const std::byte* from = item.bytes.data();
  switch (item.type) {
    case ForeignType::f32:
      return detail::converted<float>(from, item.shape);
    case ForeignType::f64:
      return detail::converted<double>(from, item.shape);
    case ForeignType::f16:
      return detail::converted<detail::Half>(from, item.shape);
    case ForeignType::bf16:
      return detail::converted<detail::BFloat>(from, item.shape);
    case ForeignType::i8:
      return detail::converted<std::int8_t>(from, item.shape);
    case ForeignType::u8:
      return detail::converted<std::uint8_t>(from, item.shape);
    case ForeignType::i16:
      return detail::converted<std::int16_t>(from, item.shape);
    case ForeignType::i32:
      return detail::converted<std::int32_t>(from, item.shape);
    case ForeignType::i64:
      return detail::converted<std::int64_t>(from, item.shape);
  }
  return {};
}

Tensor ForeignTensors::take(std::string_view name, const Shape& expected) {
  if (!(shape(name) == expected)) {
    fail(fmt::format("tensor {} has shape {}, {} is needed", name, shape(name).text(), expected.text()));
  }
  return take(name);
}

double ForeignTensors::number(std::string_view name, double otherwise) {
  if (!has(name)) return otherwise;
  if (shape(name).size() != 1) fail(fmt::format("tensor {} has shape {}, not one number", name, shape(name).text()));
  return take(name).data()[0];
}

void ForeignTensors::ignore(std::string_view name) {
  const auto found = items_.find(name);
  if (found != items_.end()) found->second->taken = true;
}

void ForeignTensors::finish() const {
  for (const auto& [name, item] : items_) {
    if (!item->taken) fail(fmt::format("tensor {} is of a feature that Fovea does not have", name));
  }
}

}  // namespace fovea::interop
