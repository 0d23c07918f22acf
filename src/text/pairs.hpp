// Pairs of sentences as token ids, by number.
#pragma once

#include <cstdint>
#include <span>

#include "text/source_reader.hpp"

namespace fovea::text {

class Pairs {
 public:
  Pairs() = default;
  virtual ~Pairs() = default;
  Pairs(const Pairs&) = default;
  Pairs& operator=(const Pairs&) = default;
  Pairs(Pairs&&) = default;
  Pairs& operator=(Pairs&&) = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  [[nodiscard]] virtual std::span<const std::int32_t> source(std::int64_t i) const = 0;  // without <s> and </s>
  [[nodiscard]] virtual std::span<const std::int32_t> target(std::int64_t i) const = 0;
  /// For models that copy (CopyTable): the target's id of each source token. Then targets may hold ids from the
  /// vocabulary's size on, words of their source.
  [[nodiscard]] virtual std::span<const std::int32_t> copies(std::int64_t) const { return {}; }
  /// Where a pair came from, counted from 1.
  [[nodiscard]] virtual std::int64_t line(std::int64_t i) const { return i + 1; }
  /// N-grams and sentences of the source, where it was read with them.
  [[nodiscard]] virtual SourceParts parts(std::int64_t /*i*/) const { return {}; }
};

/// Of pairs, in one pass over them.
struct PairsSummary {
  std::int64_t tokens = 0;   // of the longer side of each with its end of sequence: what batches are filled with
  std::int64_t longest = 0;  // of these
  std::uint64_t hash = 0;    // of all tokens of all pairs in their order
};
[[nodiscard]] PairsSummary summarize(const Pairs& pairs);

}  // namespace fovea::text
