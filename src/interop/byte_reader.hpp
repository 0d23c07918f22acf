// Numbers and strings from bytes that are not trusted.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "fovea/error.hpp"

namespace fovea::interop {

/// Walks forward through bytes; what would go past their end is a FileError that begins with `where`.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    if (count > left()) throw FileError(where_ + ": the file ends too early");
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  /// A little-endian number.
  template <class T>
  [[nodiscard]] T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view text(std::size_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void seek(std::size_t at) {
    if (at > bytes_.size()) throw FileError(where_ + ": the file ends too early");
    at_ = at;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

}  // namespace fovea::interop
