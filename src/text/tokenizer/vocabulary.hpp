// Tokens and their numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea::text {

/// ▁ stands for a space in tokens, as SentencePiece shows it.
inline constexpr std::string_view visible_space = "\u2581";

/// Lets a std::unordered_map of strings be asked with a string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
};

/// How often each token was met.
class TokenCounts {
 public:
  void add(std::string_view token);
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t different() const { return static_cast<std::int64_t>(counts_.size()); }

  struct Entry {
    std::string token;
    std::int64_t count;
  };
  /// Most frequent first, equals by their bytes: the same order from the same text, whatever the order of its lines.
  [[nodiscard]] std::vector<Entry> sorted() const;

 private:
  std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>> counts_;
  std::int64_t total_ = 0;
};

/// The four special tokens, then ordinary ones. The text of a special token is never taken for the token itself.
class Vocabulary {
 public:
  /// The special tokens only.
  Vocabulary();

  /// Takes a token in, unless it is in already or spells a special one; true if it was taken.
  bool add(std::string_view token);
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  [[nodiscard]] std::int32_t id(std::string_view token) const;    // unk_id if it is not in
  [[nodiscard]] const std::string& token(std::int32_t id) const;  // throws UsageError for an id that does not exist
  [[nodiscard]] const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>> ids_;  // ordinary tokens
};

/// The vocabulary that a file lists, the special tokens first. Throws FileError that begins with `where`.
[[nodiscard]] Vocabulary vocabulary_of(const nlohmann::json& tokens, const std::string& where);

/// The spelling of the special tokens, by id.
[[nodiscard]] const std::string& special_token(std::int32_t id);

}  // namespace fovea::text
