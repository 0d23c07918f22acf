// Converts the values of files to what Fovea computes with.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "fovea/tensor.hpp"

namespace fovea::detail {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian, and so is this code");

/// IEEE half precision and bfloat16: 1 sign, 5 or 8 exponent, 10 or 7 fraction bits.
struct Half {
  std::uint16_t bits;
  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1FU;
    const std::uint32_t fraction = bits & 0x3FFU;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
      const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -magnitude : magnitude;
    }
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  }
};
struct BFloat {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// A truth value in a byte; anything but 0 is true.
struct Bool {
  std::uint8_t bits;
  explicit operator std::int64_t() const { return bits != 0 ? 1 : 0; }
};

/// shape.size() values of T at `from`, at any alignment, as float32.
template <class T>
Tensor converted(const std::byte* from, const Shape& shape) {
  Tensor out = Tensor::empty(shape);
  for (float& value : out.values()) {
    T item;
    std::memcpy(&item, from, sizeof(T));
    value = static_cast<float>(item);
    from += sizeof(T);
  }
  return out;
}

template <class T>
std::vector<std::int64_t> integers(const std::byte* from, const Shape& shape) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(shape.size()));
  for (std::int64_t& value : out) {
    T item;
    std::memcpy(&item, from, sizeof(T));
    value = static_cast<std::int64_t>(item);
    from += sizeof(T);
  }
  return out;
}

/// float32 values: in place when there is an owner to keep them and they are aligned as tensors are, else a copy.
inline Tensor float_values(std::byte* from, const Shape& shape, const std::shared_ptr<void>& owner) {
  if (owner != nullptr && shape.size() > 0 && reinterpret_cast<std::uintptr_t>(from) % 64 == 0) {
    return Tensor::share(reinterpret_cast<float*>(from), shape, owner);
  }
  Tensor out = Tensor::empty(shape);
  if (shape.size() > 0) std::memcpy(out.data(), from, out.values().size_bytes());
  return out;
}

}  // namespace fovea::detail
