// Words of English captions in the manner of the Penn Treebank, without punctuation.
#include <algorithm>
#include <array>
#include <string_view>

#include "fovea/metrics.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

bool is_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

bool is_symbol(char32_t c) {  // ASCII that is neither a letter, a digit nor dropped
  return std::u32string_view(U"#$%&*+/<=>@\\^_|~").find(c) != std::u32string_view::npos;
}

bool is_word_character(char32_t c) {
  return c < 0x80 ? is_digit(c) || (c >= U'a' && c <= U'z') : !text::is_space(c) && !text::is_punctuation(c);
}

bool is_letter(char32_t c) {
  return is_word_character(c) && !is_digit(c);
}

// The text in lower case, one apostrophe for all.
std::u32string prepared(std::string_view caption) {
  std::u32string line = text::to_code_points(text::to_lower(caption));
  for (char32_t& c : line) {
    if (c == 0x2018 || c == 0x2019) c = U'\'';
  }
  return line;
}

// Where letters with full stops as in "u.s." end that begin at `at`; `at` when there are none.
std::size_t end_of_initials(std::u32string_view line, std::size_t at) {
  std::size_t end = at;
  while (end + 1 < line.size() && is_letter(line[end]) && line[end + 1] == U'.') end += 2;
  const bool word_goes_on = end < line.size() && is_word_character(line[end]);
  return end - at >= 4 && !word_goes_on ? end : at;
}

std::size_t end_of_word(std::u32string_view line, std::size_t at) {
  std::size_t end = at + 1;
  for (; end < line.size(); ++end) {
    const char32_t c = line[end];
    if (is_word_character(c)) continue;
    if (end + 1 == line.size() || !is_word_character(line[end + 1])) break;
    const bool between_digits = is_digit(line[end - 1]) && is_digit(line[end + 1]);
    const bool joins = c == U'-' || c == U'\'' || (between_digits && (c == U'.' || c == U',' || c == U':'));
    if (!joins) break;
  }
  return end;
}

// "'s" and the like where they are already separate from their word.
std::size_t end_of_clitic(std::u32string_view line, std::size_t at) {
  static constexpr std::array<std::u32string_view, 6> clitics{U"'s", U"'re", U"'ve", U"'ll", U"'d", U"'m"};
  for (const std::u32string_view one : clitics) {
    const std::size_t end = at + one.size();
    if (line.substr(at, one.size()) == one && (end == line.size() || !is_word_character(line[end]))) return end;
  }
  return at;
}

void add_word(std::vector<std::string>& words, std::string word) {
  struct Pair {
    std::string_view word;
    std::size_t first;
  };
  static constexpr std::array<Pair, 6> pairs{
      {{"cannot", 3}, {"gonna", 3}, {"gotta", 3}, {"wanna", 3}, {"gimme", 3}, {"lemme", 3}}};
  static constexpr std::array<std::string_view, 7> endings{"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"};
  std::size_t cut = 0;
  const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.word == word; });
  if (pair != pairs.end()) cut = pair->first;
  for (const std::string_view ending : endings) {
    if (word.size() > ending.size() && word.ends_with(ending)) cut = word.size() - ending.size();
  }
  if (cut > 0) words.push_back(word.substr(0, cut));
  words.push_back(word.substr(cut));
}

}  // namespace

std::vector<std::string> caption_words(std::string_view caption) {
  const std::u32string prepared_line = prepared(caption);
  const std::u32string_view line = prepared_line;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const bool starts = at == 0 || !is_word_character(line[at - 1]);
    std::size_t end = at + 1;
    if (is_word_character(line[at])) {
      end = starts ? end_of_initials(line, at) : at;
      if (end == at) end = end_of_word(line, at);
      add_word(words, text::to_utf8(line.substr(at, end - at)));
    } else if (line[at] == U'\'' && starts && end_of_clitic(line, at) != at) {
      end = end_of_clitic(line, at);
      words.push_back(text::to_utf8(line.substr(at, end - at)));
    } else if (is_symbol(line[at])) {
      words.push_back(text::to_utf8(line.substr(at, 1)));
    }
    at = end;
  }
  return words;
}

}  // namespace fovea
