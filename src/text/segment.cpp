#include "text/segment.hpp"

#include <fmt/format.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

struct Close {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
  void operator()(UText* text) const { utext_close(text); }
};
using Iterator = std::unique_ptr<UBreakIterator, Close>;

void check(UErrorCode status) {
  if (U_SUCCESS(status)) return;
  throw FileError(
      fmt::format("ICU {} cannot find words: {}; its data must hold word.brk and the dictionaries of scripts without "
                  "spaces (a whole libicudata does)",
                  U_ICU_VERSION, u_errorName(status)));
}

// Calls visit(begin, end) for each part of the text between two word boundaries.
template <class Visit>
void each_part(UBreakIterator* iterator, std::string_view text, Visit&& visit) {
  if (text.empty()) return;
  if (text.size() > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(fmt::format("a text of {} bytes is too long to find its words; at most {}", text.size(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
  UErrorCode status = U_ZERO_ERROR;
  UText memory = UTEXT_INITIALIZER;
  const std::unique_ptr<UText, Close> opened(
      utext_openUTF8(&memory, text.data(), static_cast<std::int64_t>(text.size()), &status));
  check(status);
  ubrk_setUText(iterator, opened.get(), &status);
  check(status);
  auto begin = static_cast<std::size_t>(ubrk_first(iterator));
  for (std::int32_t next = 0; (next = ubrk_next(iterator)) != UBRK_DONE;) {
    const auto end = static_cast<std::size_t>(next);
    visit(begin, end);
    begin = end;
  }
}

Iterator open_iterator() {
  UErrorCode status = U_ZERO_ERROR;
  Iterator iterator(ubrk_open(UBRK_WORD, "", nullptr, 0, &status));
  check(status);
  // Without its dictionary ICU takes a Chinese sentence for one word and says nothing.
  int words = 0;
  each_part(iterator.get(), "小猫可爱", [&words](std::size_t, std::size_t) { ++words; });
  if (words != 2) check(U_MISSING_RESOURCE_ERROR);
  return iterator;
}

// An iterator holds its place in a text, so each thread has its own.
UBreakIterator* words() {
  thread_local const Iterator iterator = open_iterator();
  return iterator.get();
}

char32_t first_code_point(std::string_view text) {
  std::size_t at = 0;
  return next_code_point(text, at);
}

char32_t last_code_point(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) --at;
  return next_code_point(text, at);
}

// A letter or digit of a script with spaces.
bool is_alphanumeric(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) != 0 && !is_unspaced(c);
}

// Letters with a dot between each two: U.S, e.g
bool is_abbreviation(std::string_view word) {
  const std::u32string all = to_code_points(word);
  if (all.size() < 3 || all.size() % 2 == 0) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 2 == 0 ? u_isalpha(static_cast<UChar32>(all[i])) == 0 : all[i] != U'.') return false;
  }
  return true;
}

bool is_hyphen(std::string_view part) {
  return part == "-" || part == "\u2010";
}

}  // namespace

std::vector<std::string_view> segment(std::string_view line) {
  std::vector<std::string_view> parts;
  each_part(words(), line, [&](std::size_t begin, std::size_t end) {
    const std::string_view part = trim(line.substr(begin, end - begin));
    if (!part.empty()) parts.push_back(part);
  });
  // Unicode's rules take compounds apart, and the last dot off an abbreviation.
  const auto touches = [&parts](std::size_t i) {  // part i and the one after it
    return i + 1 < parts.size() && parts[i].data() + parts[i].size() == parts[i + 1].data();
  };
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* begin = parts[i].data();
    while (touches(i) && is_hyphen(parts[i + 1]) && touches(i + 1) && is_alphanumeric(last_code_point(parts[i])) &&
           is_alphanumeric(first_code_point(parts[i + 2]))) {
      i += 2;
    }
    if (touches(i) && parts[i + 1] == "." && is_abbreviation(parts[i])) ++i;
    out.emplace_back(begin, static_cast<std::size_t>(parts[i].data() + parts[i].size() - begin));
  }
  return out;
}

std::vector<std::string_view> cut_unspaced(std::string_view word) {
  const auto unspaced = [word] {
    // No byte of a character below U+0800 is as large, so that most words need no more than this.
    std::size_t at = 0;
    while (at < word.size() && static_cast<unsigned char>(word[at]) < 0xE0) ++at;
    while (at < word.size()) {
      if (is_unspaced(next_code_point(word, at))) return true;
    }
    return false;
  };
  if (!unspaced()) return {word};
  std::vector<std::string_view> out;
  std::size_t start = 0;
  each_part(words(), word, [&](std::size_t begin, std::size_t) {
    if (begin == start || !written_together(word.substr(start, begin - start), word.substr(begin))) return;
    out.push_back(word.substr(start, begin - start));
    start = begin;
  });
  out.push_back(word.substr(start));
  return out;
}

bool written_together(std::string_view left, std::string_view right) {
  return !left.empty() && !right.empty() &&
         (is_unspaced(last_code_point(left)) || is_unspaced(first_code_point(right)));
}

}  // namespace fovea::text
