// Reading protocol buffers, the format of SentencePiece's models, from strangers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::text {

/// Thrown for a message that cannot be read; the caller, which knows the file, throws a FileError instead.
struct Damage {
  std::string what;
};

/// The fields of one message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view message) : left_(message) {}

  std::uint32_t number = 0;
  std::uint32_t wire_type = 0;  // 0 a number, 1 eight bytes, 2 a length and bytes, 5 four bytes
  std::uint64_t value = 0;      // of a number
  std::string_view bytes;       // of the others

  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t key = varint();
    number = static_cast<std::uint32_t>(key >> 3);
    wire_type = static_cast<std::uint32_t>(key & 7);
    switch (wire_type) {
      case 0:
        value = varint();
        break;
      case 1:
        take(8);
        break;
      case 2:
        take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        throw Damage{"a field of no known type"};
    }
    return true;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return out;
    }
    throw Damage{"a number that does not end"};
  }
  void take(std::uint64_t count) {
    if (count > left_.size()) throw Damage{"cut short"};
    bytes = left_.substr(0, count);
    left_.remove_prefix(count);
  }

  std::string_view left_;
};

}  // namespace fovea::text
