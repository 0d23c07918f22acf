// Which target tokens each source token stands for, when both run in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace fovea::text {

/// Tokens as numbers from 0 on.
using Ids = std::vector<std::int32_t>;

/// Learns from pairs that run in the same order, such as letters and sounds, what each source token stands for: none,
/// one or two target tokens, with a probability for each that is fitted by expectation and maximisation (Dempster et
/// al. 1977; for letters and sounds Jiampojamarn et al. 2007). Lines so long that all their alignments together are
/// less likely than 1e-290, some hundreds of tokens, are aligned but not learned from.
class MonotoneAligner {
 public:
  static constexpr std::size_t kMost = 2;       // target tokens for a source token
  static constexpr std::size_t kLongest = 256;  // tokens; longer lines are not aligned, time goes with length squared
  static constexpr std::size_t kMostUnits = 8'000'000;  // things that source tokens may stand for: half a gigabyte

  struct Pair {
    Ids source, target;
  };
  /// Throws UsageError when there are too many different tokens to try what may stand for what.
  explicit MonotoneAligner(std::span<const Pair> pairs, int rounds = 8, std::size_t most_units = kMostUnits);

  /// How many target tokens each source token takes in the likeliest alignment; empty when there is none: a side has
  /// no tokens or too many, the target is more than twice as long, or what would be needed was never learned.
  [[nodiscard]] std::vector<std::size_t> align(const Pair& pair) const;

 private:
  // P(the n target tokens from j on | source token i)
  [[nodiscard]] double probability(const Pair& pair, std::size_t i, std::size_t j, std::size_t n) const;

  // The same by what the tokens are.
  std::unordered_map<std::uint64_t, double> probability_;
};

}  // namespace fovea::text
