// Words of text, also where no spaces separate them: Chinese, Japanese, Thai, Lao, Khmer, Burmese. The cuts are those
// of ICU's word break iterator: Unicode's rules (UAX #29), and dictionaries for these scripts. Everything here takes
// any bytes, loses none of them, and throws FileError when ICU's data is missing and UsageError for texts of 2 GB and
// more.
#pragma once

#include <string_view>
#include <vector>

namespace fovea::text {

/// The words and marks of a line, without its white space; views into it. A mark is a word of its own, but not inside
/// a number (3.14), an abbreviation of letters (U.S.) or a compound (well-known).
///
///     segment("看小猫，它好可爱")  // 看 小猫 ， 它 好 可爱
[[nodiscard]] std::vector<std::string_view> segment(std::string_view line);

/// A word between spaces, cut where it belongs to a script without spaces and nowhere else; views into it.
///
///     cut_unspaced("我用C++写")  // 我 用 C++ 写
[[nodiscard]] std::vector<std::string_view> cut_unspaced(std::string_view word);

/// Whether two words that follow each other are written without a space: one of the two characters that would touch
/// belongs to a script without spaces. True at every cut of cut_unspaced.
[[nodiscard]] bool written_together(std::string_view left, std::string_view right);

}  // namespace fovea::text
