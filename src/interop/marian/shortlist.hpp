// Marian's binary lexical shortlist, as in the model folders of Firefox Translations (lex.50.50.ende.s2t.bin).
#pragma once

#include <cstdint>
#include <vector>

#include "interop/files.hpp"
#include "interop/vocabulary_map.hpp"
#include "text/shortlist.hpp"

namespace fovea::interop {

/// In the ids of the other program.
struct MarianShortlist {
  std::uint64_t frequent = 0;                       // every line may write the tokens below this one
  std::vector<std::vector<std::uint32_t>> targets;  // what each source token may be translated to
};

/// Throws FileError naming what is wrong: another format, a size or an order that does not fit, another checksum.
[[nodiscard]] MarianShortlist read_marian_shortlist(const FileBytes& file);

/// The same in Fovea's ids. With one vocabulary for both sides a source token may be written as it is. Throws FileError
/// beginning with `where` when it was made for other vocabularies.
[[nodiscard]] text::Shortlist shortlist_of(const MarianShortlist& read, const VocabularyMap& source,
                                           const VocabularyMap& target, bool shared, const std::string& where);

}  // namespace fovea::interop
