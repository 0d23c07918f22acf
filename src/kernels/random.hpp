// Which values dropout keeps: a function of (seed, counter) alone, so that the backward pass computes the mask again
// and nothing stores it.
//
// A 32-bit word decides for two counters, 16 apart, with 16 bits each:
//   word(w)  = hash of key(seed, counter >> 32) and w,  w = (counter / 32) * 16 + counter % 16  (of the low 32 bits)
//   test     = word ^ (word << 16) for counter % 32 < 16, word itself for the others
//   kept     = top 16 bits of test, as a signed number, >= threshold(rate)
// Every lane of a vector is thus one word, whatever the vector's length. The hash is that of MurmurHash3's finaliser
// with half of the key going in before and half between its two products, so that two seeds never give shifted copies
// of one sequence. The rate is rounded to a multiple of 2^-16.
#pragma once

#include <cstdint>

// Kernel sources of every instruction set use these, so no copy of them may become a symbol.
#define FOVEA_ALWAYS_INLINE inline __attribute__((always_inline))

namespace fovea::kernels {

struct DropoutKey {
  std::uint32_t first;
  std::uint32_t second;
};

FOVEA_ALWAYS_INLINE std::uint64_t dropout_mix(std::uint64_t x) {  // splitmix64's finaliser
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The key of counters whose upper half is `high`.
FOVEA_ALWAYS_INLINE DropoutKey dropout_key(std::uint64_t seed, std::uint64_t high) {
  const std::uint64_t k = dropout_mix(dropout_mix(seed) ^ high);
  return {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
}

FOVEA_ALWAYS_INLINE std::uint32_t dropout_word(DropoutKey key, std::uint32_t w) {
  std::uint32_t x = w + key.first;
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= key.second;
  x ^= x >> 13;
  x *= 0xC2B2AE35U;
  return x;
}

/// What a test must reach to be kept; 0 <= rate < 1.
FOVEA_ALWAYS_INLINE std::int32_t dropout_threshold(float rate) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): it is not below 0
  std::int64_t t = static_cast<std::int64_t>(static_cast<double>(rate) * 65536.0 + 0.5);
  t = t < 0 ? 0 : t > 65535 ? 65535 : t;
  return static_cast<std::int32_t>(t * 65536 - 2147483648);
}

/// Whether the value of this counter is kept.
FOVEA_ALWAYS_INLINE bool dropout_keeps(std::uint64_t seed, std::uint64_t counter, std::int32_t threshold) {
  const auto low = static_cast<std::uint32_t>(counter);
  const std::uint32_t word = dropout_word(dropout_key(seed, counter >> 32), ((low >> 1) & ~15U) | (low & 15U));
  return static_cast<std::int32_t>((low & 16U) != 0 ? word : word ^ (word << 16)) >= threshold;
}

/// Dropout of an array whose first value has `counter`.
struct Dropout {
  float rate = 0;  // 0 <= rate < 1
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
};

struct RandomKernels {
  /// y = kept ? x / (1 - rate) : 0, or y += with `add`. Both directions: dx comes from dy the same way. y may be x.
  /// Fastest when counter is a multiple of 32.
  void (*dropout)(const Dropout& how, const float* x, float* y, std::int64_t n, bool add);
};

}  // namespace fovea::kernels
