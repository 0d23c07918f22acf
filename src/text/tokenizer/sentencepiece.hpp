// Subwords by SentencePiece (Kudo & Richardson 2018).
#pragma once

#include <string>
#include <string_view>

#include "fovea/text.hpp"

namespace fovea::text {

[[nodiscard]] TrainedTokenizer train_sentencepiece(std::span<const std::vector<std::string>* const> lines,
                                                   const TokenizerOptions& options);

/// From the bytes of a .model file; `where` names it in errors. Throws FileError.
[[nodiscard]] std::shared_ptr<const Tokenizer> parse_sentencepiece(std::string_view bytes, const std::string& where);

}  // namespace fovea::text
