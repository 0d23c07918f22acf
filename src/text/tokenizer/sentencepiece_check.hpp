// What SentencePiece itself does not check of a model file before it follows it.
#pragma once

#include <string>
#include <string_view>

namespace fovea::text {

/// Throws FileError unless the pieces are UTF-8 with finite scores, and the table of the text normaliser, which
/// SentencePiece walks without looking, stays inside itself. `where` names the file in errors.
void check_sentencepiece(std::string_view model, const std::string& where);

}  // namespace fovea::text
