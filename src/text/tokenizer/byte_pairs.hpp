// Byte-level BPE as GPT-2 has it (Radford et al. 2019, section 2.2): text is cut into words by a fixed pattern, each
// word into its bytes, and pairs of neighbours are merged in the order of a list.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/text.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea::text {

using Merge = std::pair<std::string, std::string>;

/// The words of a text, which put together are the text again: a word with the space before it, a number, a run of
/// other characters, white space, or an English ending such as 've. Views into `utf8`.
[[nodiscard]] std::vector<std::string_view> byte_pair_words(std::string_view utf8);

/// The text of tokens, whose characters stand for bytes; what is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string text_of_bytes(std::string_view characters);

/// Tokens are spelled with one character per byte: printable ones as they are, the space as Ġ, others by a table. Saved
/// as NAME.json.
class BytePairTokenizer final : public Tokenizer {
 public:
  /// `merges`, the first one first. Throws FileError that begins with `where` unless the vocabulary has every byte, and
  /// both parts and the whole of each merge.
  BytePairTokenizer(Vocabulary vocabulary, const std::vector<Merge>& merges, const std::string& where);

  [[nodiscard]] TokenizerKind kind() const override { return TokenizerKind::byte_pairs; }
  [[nodiscard]] std::int32_t size() const override { return vocabulary_.size(); }
  using Tokenizer::encode;
  void encode(std::string_view line, std::vector<std::int32_t>& ids, std::vector<std::string>* pieces) const override;
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override;
  [[nodiscard]] std::string join(std::span<const std::string> pieces) const override;
  [[nodiscard]] const std::string& piece(std::int32_t id) const override { return vocabulary_.token(id); }
  void save(const std::filesystem::path& folder, const std::string& name) const override;

 private:
  struct Merged {
    std::int32_t rank, left, right, whole;
  };
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;

  Vocabulary vocabulary_;
  std::int32_t of_byte_[256] = {};
  std::vector<Merged> merges_;                             // by rank
  std::unordered_map<std::uint64_t, std::int32_t> ranks_;  // of a pair: its two ids in one number
};

/// GPT-2's merges.txt: a pair a line, perhaps behind a line that begins with #version. Throws FileError.
[[nodiscard]] std::vector<Merge> parse_merges(std::string_view text, const std::string& where);

/// Whether a NAME.json is one of these, and the tokenizer that it holds. Throws FileError.
[[nodiscard]] bool is_byte_pairs(const nlohmann::json& json);
[[nodiscard]] std::shared_ptr<const Tokenizer> parse_byte_pairs(const nlohmann::json& json, const std::string& where);

}  // namespace fovea::text
