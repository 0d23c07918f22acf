// Batches of sentence pairs of similar length, in an order that depends on the seed and the epoch alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/corpus.hpp"

namespace fovea::text {

/// Some pairs, padded with pad_id to rectangles; row-major. The buffers are kept when a batch is filled again.
struct Batch {
  std::int64_t rows = 0;          // B
  std::int64_t source_width = 0;  // S, the longest source with its eos
  std::int64_t target_width = 0;  // T, the longest target with its eos

  std::vector<std::int32_t> source;          // [B, S]: the tokens, eos
  std::vector<std::int32_t> source_lengths;  // [B], eos counted
  std::vector<std::int32_t> target_in;       // [B, T]: bos, the tokens
  std::vector<std::int32_t> target_out;      // [B, T]: the tokens, eos; what the model must say after target_in
  std::vector<std::int32_t> target_lengths;  // [B], bos or eos counted
  std::vector<std::int32_t> pairs;           // [B], indices into the corpus

  std::int64_t source_tokens = 0;  // without padding
  std::int64_t target_tokens = 0;
};

struct BatchOptions {
  std::int64_t batch_tokens = 4096;  // B * S and B * T are at most this, padding included
  std::int64_t max_rows = 0;         // and B this; 0: any
  std::uint64_t seed = 1;
  bool shuffle = true;  // false: always the same batches, shortest first
};

/// The batches of a corpus, epoch by epoch; each pair is in exactly one batch of an epoch. Everything about an epoch
/// follows from (options, epoch), so a training goes on from (epoch, index) as if it had never stopped.
///
///     Batches batches(corpus, {.batch_tokens = 4096, .seed = 7});
///     Batch batch;
///     batches.start_epoch(epoch);
///     for (std::int64_t i = 0; i < batches.count(); ++i) batches.fill(i, batch);
class Batches {
 public:
  /// Starts at epoch 0. The corpus must outlive this. Throws UsageError when the corpus is empty or one of its pairs
  /// alone has more than batch_tokens tokens.
  Batches(const Corpus& corpus, const BatchOptions& options);

  void start_epoch(std::int64_t epoch);
  /// How many batches this epoch has; epochs may differ by a few.
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(cuts_.size()); }
  void fill(std::int64_t index, Batch& batch) const;
  /// The pairs of a batch, as indices into the corpus.
  [[nodiscard]] std::span<const std::int32_t> pairs(std::int64_t index) const {
    const Cut& c = cuts_[static_cast<std::size_t>(index)];
    return std::span(order_).subspan(c.begin, c.end - c.begin);
  }

  /// The share of padding among all cells of this epoch's sources and targets.
  [[nodiscard]] double padding() const;

 private:
  struct Cut {
    std::uint32_t begin, end;  // of the batch in order_
  };
  [[nodiscard]] std::int64_t source_length(std::int32_t pair) const;
  [[nodiscard]] std::int64_t target_length(std::int32_t pair) const;
  void cut(std::int64_t first_tokens);

  const Corpus& corpus_;
  BatchOptions options_;
  std::size_t most_cells_ = 0;           // of one rectangle of a batch
  std::vector<std::int32_t> by_length_;  // pairs, neighbours of equal or similar length
  std::vector<Cut> groups_;              // ranges of by_length_ of equal lengths
  std::vector<std::int32_t> order_;      // by_length_, each group shuffled
  std::vector<Cut> cuts_;                // the batches, in the order they come
};

}  // namespace fovea::text
