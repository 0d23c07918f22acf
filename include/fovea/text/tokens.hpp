// Batches of token ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// The ids of the special tokens, the same in every vocabulary.
inline constexpr std::int32_t pad_id = 0;
/// The id of every token that is not in the vocabulary.
inline constexpr std::int32_t unk_id = 1;
/// Begin of sequence: the first token that a decoder is fed.
inline constexpr std::int32_t bos_id = 2;
/// End of sequence: the last token that a decoder writes.
inline constexpr std::int32_t eos_id = 3;
inline constexpr std::int32_t special_ids = 4;  // the first id of an ordinary token

/// A view of a padded batch of token ids; PaddedTokens owns one. A call copies what its backward pass needs, so the
/// arrays need to live until the call returns, and as long as a Memory that was made of them is read.
struct Tokens {
  std::span<const std::int32_t> ids{};      // [batch * length], row by row; 0 is padding
  std::span<const std::int64_t> lengths{};  // [batch], real tokens of each row
  std::int64_t batch = 0;                   // sequences
  std::int64_t length = 0;                  // of the longest
  // [batch * length]: the id of each token in the target's vocabulary; from its size on, words that it does not have,
  // numbered by their first place in the row. Empty unless a model copies.
  std::span<const std::int32_t> copies{};
};

/// Which special tokens are added to a sequence.
enum class Marks {
  none,   // a b
  end,    // a b </s>: what an encoder reads, and what a decoder shall write
  begin,  // <s> a b: what a decoder is fed
};

/// Sequences padded to one array; the memory is kept from one filling to the next.
///
///     PaddedTokens batch;
///     batch.fill(rows, Marks::end, [&](std::int64_t r) { return std::span(sentences[r]); });
///     model.encode(batch.view(), pass);
class PaddedTokens {
 public:
  /// `sequence(row)` gives the ids of a row, as a span or a vector.
  template <class Get>
  void fill(std::int64_t rows, Marks marks, const Get& sequence) {
    const std::int64_t mark = marks == Marks::none ? 0 : 1;
    length_ = 0;
    lengths_.clear();
    copies_.clear();
    for (std::int64_t r = 0; r < rows; ++r) {
      lengths_.push_back(static_cast<std::int64_t>(sequence(r).size()) + mark);
      length_ = std::max(length_, lengths_.back());
    }
    ids_.assign(static_cast<std::size_t>(rows * length_), pad_id);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto& from = sequence(r);
      auto to = ids_.begin() + r * length_;
      if (marks == Marks::begin) *to++ = bos_id;
      to = std::copy(from.begin(), from.end(), to);
      if (marks == Marks::end) *to = eos_id;
    }
  }

  /// Tokens::copies of the rows that fill() was given; `copies(row)` is as long as the row. The end of sequence is
  /// itself in every vocabulary.
  template <class Get>
  void fill_copies(const Get& copies) {
    copies_.assign(ids_.size(), pad_id);
    for (std::size_t r = 0; r < lengths_.size(); ++r) {
      const auto& from = copies(static_cast<std::int64_t>(r));
      const auto to = copies_.begin() + static_cast<std::ptrdiff_t>(r) * length_;
      std::copy(from.begin(), from.end(), to);
      if (static_cast<std::int64_t>(from.size()) < lengths_[r]) to[lengths_[r] - 1] = eos_id;
    }
  }
  /// Ids from `limit` on become <unk>: what a decoder is fed where a word was copied that it does not know.
  void cut_ids(std::int32_t limit) {
    std::replace_if(
        ids_.begin(), ids_.end(), [limit](std::int32_t id) { return id >= limit; }, unk_id);
  }

  /// The batch; good until the next fill().
  [[nodiscard]] Tokens view() const {
    return {ids_, lengths_, static_cast<std::int64_t>(lengths_.size()), length_, copies_};
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::int32_t> copies_;
  std::vector<std::int64_t> lengths_;
  std::int64_t length_ = 0;
};

}  // namespace fovea
