// Which weights dropout keeps: a hash of the seed and the weight's number, so that the backward pass finds the same.
#pragma once

#include <cstdint>

#include "kernels/attention.hpp"

namespace fovea::kernels {

__attribute__((always_inline)) inline std::uint32_t weight_bits(std::uint64_t seed, std::uint64_t number) {
  auto x = static_cast<std::uint32_t>(number) ^ static_cast<std::uint32_t>(seed);
  const std::uint32_t high =
      (static_cast<std::uint32_t>(number >> 32) * 0x9E3779B9U) ^ static_cast<std::uint32_t>(seed >> 32);
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  x += high;
  x *= 0xC2B2AE35U;
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  return x ^ (x >> 15);
}

__attribute__((always_inline)) inline bool weight_kept(const WeightDropout& dropout, std::int64_t pair) {
  const std::uint32_t bits = weight_bits(dropout.seed, dropout.counter + static_cast<std::uint64_t>(pair));
  return static_cast<float>(bits >> 8) * 0x1p-24F >= dropout.rate;
}

}  // namespace fovea::kernels
