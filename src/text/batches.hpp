// Batches of sentence pairs of similar length, in an order that depends on the seed and the epoch alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/pairs.hpp"

namespace fovea::text {

struct BatchOptions {
  std::int64_t batch_tokens = 4096;  // pairs times the longest source, or target, with its eos, is at most this
  std::int64_t max_rows = 0;         // and the pairs are at most so many; 0: any
  std::uint64_t seed = 1;
  bool shuffle = true;  // false: always the same batches, shortest first
};

/// The batches of a corpus, epoch by epoch; each pair is in exactly one batch of an epoch. Everything about an epoch
/// follows from (options, epoch), so a training continues from (epoch, index) as if it had never stopped.
///
///     Batches batches(corpus, {.batch_tokens = 4096, .seed = 7});
///     batches.start_epoch(epoch);
///     for (std::int64_t i = 0; i < batches.count(); ++i) train_on(batches.pairs(i));
class Batches {
 public:
  /// Starts at epoch 0. The corpus must outlive this. Throws UsageError when the corpus is empty or one of its pairs
  /// alone has more than batch_tokens tokens.
  Batches(const Pairs& corpus, const BatchOptions& options);

  void start_epoch(std::int64_t epoch);
  /// How many batches this epoch has; epochs may differ by a few.
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(cuts_.size()); }
  /// The pairs of a batch, as indices into the corpus.
  [[nodiscard]] std::span<const std::int32_t> pairs(std::int64_t index) const {
    const Cut& c = cuts_[static_cast<std::size_t>(index)];
    return std::span(order_).subspan(c.begin, c.end - c.begin);
  }

 private:
  struct Cut {
    std::uint32_t begin, end;  // of the batch in order_
  };
  [[nodiscard]] std::int64_t source_length(std::int32_t pair) const;
  [[nodiscard]] std::int64_t target_length(std::int32_t pair) const;
  void cut(std::int64_t first_tokens);

  const Pairs& corpus_;
  BatchOptions options_;
  std::vector<std::int32_t> by_length_;  // pairs, neighbours of equal or similar length
  std::vector<Cut> groups_;              // ranges of by_length_ of equal lengths
  std::vector<std::int32_t> order_;      // by_length_, each group shuffled
  std::vector<Cut> cuts_;                // the batches, in the order they come
};

}  // namespace fovea::text
