// UTF-8 and the few Unicode properties Fovea needs. Everything here takes valid UTF-8 unless it says otherwise: what
// comes from files and users goes through invalid_utf8 first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

/// The offset of the first byte that is not UTF-8 (overlong forms, surrogates and code points past U+10FFFF are not),
/// or npos when all of it is.
[[nodiscard]] std::size_t invalid_utf8(std::string_view bytes);

/// The code point at `offset`, which moves past it. A byte that is not UTF-8 gives U+FFFD and is skipped alone.
char32_t next_code_point(std::string_view utf8, std::size_t& offset);

void append_utf8(std::string& to, char32_t code_point);
[[nodiscard]] std::u32string to_code_points(std::string_view utf8);
[[nodiscard]] std::string to_utf8(std::u32string_view code_points);

/// White space as Python's str.split sees it, which is what sacreBLEU counts by.
[[nodiscard]] bool is_space(char32_t c);

/// Whether the character belongs to a script that puts no spaces between words: Chinese, Japanese, Thai, Lao, Khmer,
/// Burmese; their marks too (，「).
[[nodiscard]] bool is_unspaced(char32_t c);

/// Punctuation by Unicode's general category (P), letters (L), numbers (N), and letters and numbers.
[[nodiscard]] bool is_punctuation(char32_t c);
[[nodiscard]] bool is_letter(char32_t c);
[[nodiscard]] bool is_number(char32_t c);
[[nodiscard]] bool is_letter_or_number(char32_t c);

/// Lower case by Unicode's full mapping: one letter may become two, and a sigma that ends a word becomes ς.
[[nodiscard]] std::string to_lower(std::string_view utf8);

/// The pieces between runs of white space; views into `utf8`.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view utf8);

/// Without the white space at its ends.
[[nodiscard]] std::string_view trim(std::string_view utf8);

/// How many columns the character takes in a terminal: 2 for wide ones (CJK, emoji), 0 for combining ones.
[[nodiscard]] int columns(char32_t c);

}  // namespace fovea::text
