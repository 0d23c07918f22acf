// Tokenizers whose tokens are listed in a vocabulary: words, characters, labels.
#pragma once

#include <string>

#include "fovea/text.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea::text {

/// What the tokens of a line are.
struct ListedTokens {
  TokenizerKind kind = TokenizerKind::word;  // or character or label
  bool segmented = false;                    // words are cut where their script has no spaces (text/segment.hpp)
};

class ListedTokenizer final : public Tokenizer {
 public:
  ListedTokenizer(ListedTokens tokens, Vocabulary vocabulary) : tokens_(tokens), vocabulary_(std::move(vocabulary)) {}

  [[nodiscard]] TokenizerKind kind() const override { return tokens_.kind; }
  [[nodiscard]] std::int32_t size() const override { return vocabulary_.size(); }
  using Tokenizer::encode;
  void encode(std::string_view line, std::vector<std::int32_t>& ids, std::vector<std::string>* pieces) const override;
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override;
  [[nodiscard]] std::string join(std::span<const std::string> pieces) const override;
  [[nodiscard]] const std::string& piece(std::int32_t id) const override { return vocabulary_.token(id); }
  void save(const std::filesystem::path& folder, const std::string& name) const override;

 private:
  ListedTokens tokens_;
  Vocabulary vocabulary_;
};

[[nodiscard]] TrainedTokenizer train_listed(std::span<const std::vector<std::string>* const> lines,
                                            const TokenizerOptions& options);

/// From the bytes of a NAME.json, whichever tokenizer its "format" names; `where` names the file in errors. Throws
/// FileError.
[[nodiscard]] std::shared_ptr<const Tokenizer> parse_listed(std::string_view json, const std::string& where);

}  // namespace fovea::text
