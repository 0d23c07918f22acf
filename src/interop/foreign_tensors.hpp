// Tensors of another program's file, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor.hpp"

namespace fovea::interop {

enum class ForeignType { f32, f64, f16, bf16, i8, u8, i16, i32, i64 };

/// Bytes of a number.
[[nodiscard]] std::size_t bytes_of(ForeignType type);

/// What a file holds, still in its own types, and which of it was taken: a model is understood only when nothing is
/// left over. Every fault is a FileError that names the file and the tensor.
class ForeignTensors {
 public:
  struct Item {
    ForeignType type = ForeignType::f32;
    Shape shape{};
    std::span<const std::byte> bytes{};  // exactly what type and shape say
    std::shared_ptr<void> owner{};       // of the bytes
    bool taken = false;
  };

  explicit ForeignTensors(std::string file) : file_(std::move(file)) {}

  /// Throws for a duplicate name, and when type and shape do not fit the bytes.
  void add(const std::string& name, Item item);
  /// Adds a second name for a tensor.
  void alias(const std::string& name, const std::string& of);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(std::string_view name) const { return items_.find(name) != items_.end(); }
  /// Whether two names stand for the same numbers.
  [[nodiscard]] bool same(std::string_view a, std::string_view b) const;
  [[nodiscard]] const Item& item(std::string_view name) const;
  [[nodiscard]] const Shape& shape(std::string_view name) const { return item(name).shape; }

  /// A tensor in float32. Throws when it is missing.
  [[nodiscard]] Tensor take(std::string_view name);
  /// The same, of this shape alone.
  [[nodiscard]] Tensor take(std::string_view name, const Shape& expected);
  /// A single number; `otherwise` when it is not there.
  [[nodiscard]] double number(std::string_view name, double otherwise);
  /// Marks a tensor as taken, if there is one of this name.
  void ignore(std::string_view name);
  /// Throws, naming a tensor that was not taken.
  void finish() const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string file_;
  std::map<std::string, std::shared_ptr<Item>, std::less<>> items_;
};

/// A shape from sizes of a file. Throws FileError beginning with `where` when there are too many or too large ones.
[[nodiscard]] Shape checked_shape(std::span<const std::uint64_t> sizes, const std::string& where);

}  // namespace fovea::interop
