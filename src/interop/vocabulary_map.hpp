// Another program's vocabulary, put into Fovea's order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tensor.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea::interop {

/// The ids of the special tokens in the other program; -1 where there is none.
struct ForeignSpecials {
  std::int64_t pad = -1, unknown = -1, end = -1;
  std::int64_t start = -1;     // what the decoder is fed first; may be any of the others
  bool start_is_zero = false;  // it is fed zeros instead
};

/// Fovea numbers the special tokens 0 to 3 in every vocabulary; the other tokens follow in their own order. Rows of
/// embeddings and of the output layer are moved with them. A special token that the other program does not have, or
/// has under the same id as another, gets a row that is never written: its bias takes its probability away.
class VocabularyMap {
 public:
  /// `tokens` by their ids there. Throws FileError beginning with `where` for an id outside of them, or two tokens
  /// that are spelled alike.
  VocabularyMap(const std::vector<std::string>& tokens, const ForeignSpecials& special, const std::string& where);

  /// The id there of each of ours; -1: none.
  [[nodiscard]] const std::vector<std::int64_t>& theirs() const { return theirs_; }
  /// Our id of each of theirs.
  [[nodiscard]] const std::vector<std::int32_t>& ours() const { return ours_; }
  [[nodiscard]] int size() const { return static_cast<int>(theirs_.size()); }
  [[nodiscard]] const text::Vocabulary& vocabulary() const { return vocabulary_; }

  /// [their size, width] to [size, width]; zeros where there is none.
  [[nodiscard]] Tensor rows(const Tensor& table) const;
  /// [their size], or empty for zeros, to [size].
  [[nodiscard]] Tensor bias(const Tensor& bias) const;

 private:
  std::vector<std::int64_t> theirs_;
  std::vector<bool> never_;  // by our id: it is never written
  std::vector<std::int32_t> ours_;
  text::Vocabulary vocabulary_;
};

/// What takes the probability of a token away, whatever its logit.
inline constexpr float kNeverBias = -1e9F;

}  // namespace fovea::interop
