// The part of a batch that one thread works on at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/text.hpp"
#include "model/encoder.hpp"

namespace fovea {

/// Pairs of sentences as token ids, by number. What a corpus is to the trainer.
class Pairs {
 public:
  Pairs() = default;
  virtual ~Pairs() = default;
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;
  [[nodiscard]] virtual std::span<const std::int32_t> source(std::int64_t i) const = 0;  // without <s> and </s>
  [[nodiscard]] virtual std::span<const std::int32_t> target(std::int64_t i) const = 0;
};

/// Some pairs, padded to arrays: the source ends with </s>; the target is shifted, <s> a b → a b </s>. Its memory is
/// kept from one filling to the next.
struct MicroBatch {
  std::vector<std::int32_t> source, target, wanted;
  std::vector<std::int64_t> source_lengths, target_lengths;
  std::int64_t rows = 0, source_length = 0, target_length = 0;
  std::int64_t target_tokens = 0;  // real ones, the ends included
  std::int64_t source_tokens = 0;

  /// With `times` 2 all of them stand there twice, one half after the other.
  void fill(const Pairs& pairs, std::span<const std::int64_t> which, int times = 1);
  [[nodiscard]] Tokens source_view() const { return {source, source_lengths, rows, source_length}; }
  [[nodiscard]] Tokens target_view() const { return {target, target_lengths, rows, target_length}; }
};

/// Puts the numbers of a batch in an order of similar lengths and cuts it into contiguous groups of about
/// micro_tokens target tokens each, as many as a multiple of `workers` if there are enough pairs; ends[g] is where
/// group g ends. Depends on the batch alone.
void cut_batch(const Pairs& pairs, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int workers,
               std::vector<std::size_t>& ends);

}  // namespace fovea
