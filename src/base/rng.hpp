// Random numbers for initialising, shuffling and sampling: the same sequence from the same seed on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace fovea {

/// A well-mixed 64-bit hash of x (the finaliser of splitmix64, Steele et al. 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// A counter hashed with the seed: number n depends on (seed, n) alone, so the state is one integer to save.
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0, std::uint64_t counter = 0) : key_(mix64(seed)), counter_(counter) {}

  std::uint64_t next() { return mix64(key_ ^ mix64(counter_++)); }
  /// In [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// In [0, bound); bound > 0. Lemire's multiply-and-reject, without bias.
  std::uint64_t below(std::uint64_t bound) {
    for (;;) {
      const auto product = static_cast<unsigned __int128>(next()) * bound;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= bound || low >= (0 - bound) % bound) return static_cast<std::uint64_t>(product >> 64);
    }
  }
  /// Mean 0, deviation 1 (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
  [[nodiscard]] std::uint64_t counter() const { return counter_; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_;
};

}  // namespace fovea
