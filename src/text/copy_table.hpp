// The words of a source as a decoder can copy them: their ids in the target's vocabulary, and numbers of their own for
// those it does not have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/text.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea::text {

/// Of a pair of tokenizers. Tokens are the same if they are spelled the same; the text of an unknown token is what the
/// line had there.
class CopyTable {
 public:
  CopyTable(const Tokenizer& source, const Tokenizer& target);

  /// Ids from here on are words of one source.
  [[nodiscard]] std::int32_t vocabulary() const { return vocabulary_; }

  /// The target's id of each token of a source, as encode() gave ids and pieces. Words the target's vocabulary does not
  /// have are numbered from its size on, by their first place, and put into `words` in that order.
  void source(std::span<const std::int32_t> ids, std::span<const std::string> pieces, std::vector<std::int32_t>& copies,
              std::vector<std::string>& words) const;
  /// The same without the text of unknown tokens, which stay <unk>.
  void source(std::span<const std::int32_t> ids, std::vector<std::int32_t>& copies) const;
  /// Gives unknown tokens of a target the numbers they have among the source's words.
  void target(std::span<std::int32_t> ids, std::span<const std::string> pieces,
              std::span<const std::string> words) const;

 private:
  std::int32_t vocabulary_;
  std::vector<std::int32_t> of_source_;  // by the source's id; unk_id: the target has no such token
  std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>> of_target_;
};

}  // namespace fovea::text
