// Pieces cut by one tokenizer and numbered by a list of its own, as Marian's and OPUS-MT's models have them.
#pragma once

#include <memory>
#include <string>

#include "fovea/text.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea::text {

/// Saved as NAME.model, the SentencePiece model, and NAME.pieces.json, the list.
class MappedTokenizer final : public Tokenizer {
 public:
  /// `cutter` is a SentencePiece tokenizer.
  MappedTokenizer(std::shared_ptr<const Tokenizer> cutter, Vocabulary vocabulary)
      : cutter_(std::move(cutter)), vocabulary_(std::move(vocabulary)) {}

  [[nodiscard]] TokenizerKind kind() const override { return TokenizerKind::sentencepiece; }
  [[nodiscard]] std::int32_t size() const override { return vocabulary_.size(); }
  using Tokenizer::encode;
  /// Tokens such as ">>deu<<" at the start of a line, where the list has them, are taken as they are: the language that
  /// a model for several has to write.
  void encode(std::string_view line, std::vector<std::int32_t>& ids, std::vector<std::string>* pieces) const override;
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override;
  [[nodiscard]] const std::string& piece(std::int32_t id) const override { return vocabulary_.token(id); }
  void save(const std::filesystem::path& folder, const std::string& name) const override;

 private:
  std::shared_ptr<const Tokenizer> cutter_;
  Vocabulary vocabulary_;
};

/// The list of NAME.pieces.json; `where` names the file in errors. Throws FileError.
[[nodiscard]] Vocabulary parse_pieces(std::string_view json, const std::string& where);

}  // namespace fovea::text
