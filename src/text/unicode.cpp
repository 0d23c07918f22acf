#include "text/unicode.hpp"

#include <utf8proc.h>

#include <cstdint>

namespace fovea::text {
namespace {

constexpr char32_t replacement = 0xFFFD;

// The length of the well-formed sequence at p (Unicode 15, table 3-7), 0 if there is none.
int sequence_length(const unsigned char* p, std::size_t left) {
  const unsigned char a = p[0];
  if (a < 0x80) return 1;
  const auto tail = [](unsigned char c) { return (c & 0xC0) == 0x80; };
  if (a < 0xC2) return 0;
  if (a < 0xE0) return left >= 2 && tail(p[1]) ? 2 : 0;
  if (a < 0xF0) {
    if (left < 3 || !tail(p[1]) || !tail(p[2])) return 0;
    if (a == 0xE0 && p[1] < 0xA0) return 0;   // overlong
    if (a == 0xED && p[1] >= 0xA0) return 0;  // a surrogate
    return 3;
  }
  if (a > 0xF4 || left < 4 || !tail(p[1]) || !tail(p[2]) || !tail(p[3])) return 0;
  if (a == 0xF0 && p[1] < 0x90) return 0;   // overlong
  if (a == 0xF4 && p[1] >= 0x90) return 0;  // past U+10FFFF
  return 4;
}

bool is_cased(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return false;
  }
}

// Unicode's Case_Ignorable: marks, format characters, modifiers, and the punctuation found inside words.
bool is_case_ignorable(char32_t c) {
  switch (c) {
    case U'\'':
    case U'.':
    case U':':
    case U'\u00B7':
    case U'\u0387':
    case U'\u2018':
    case U'\u2019':
    case U'\u2024':
    case U'\u2027':
      return true;
    default:
      break;
  }
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

// Final_Sigma: a cased letter before it and none after it, case-ignorable characters aside.
bool ends_a_word(std::u32string_view line, std::size_t at) {
  std::size_t i = at;
  while (i > 0 && is_case_ignorable(line[i - 1])) --i;
  if (i == 0 || !is_cased(line[i - 1])) return false;
  i = at + 1;
  while (i < line.size() && is_case_ignorable(line[i])) ++i;
  return i == line.size() || !is_cased(line[i]);
}

}  // namespace

std::size_t invalid_utf8(std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size();) {
    const int length = sequence_length(p + i, bytes.size() - i);
    if (length == 0) return i;
    i += static_cast<std::size_t>(length);
  }
  return std::string_view::npos;
}

char32_t next_code_point(std::string_view utf8, std::size_t& offset) {
  const auto* p = reinterpret_cast<const unsigned char*>(utf8.data()) + offset;
  const int length = sequence_length(p, utf8.size() - offset);
  offset += static_cast<std::size_t>(length == 0 ? 1 : length);
  switch (length) {
    case 1:
      return p[0];
    case 2:
      return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    case 3:
      return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    case 4:
      return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    default:
      return replacement;
  }
}

void append_utf8(std::string& to, char32_t c) {
  const auto put = [&to](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = replacement;
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::u32string to_code_points(std::string_view utf8) {
  std::u32string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) out.push_back(next_code_point(utf8, i));
  return out;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string out;
  out.reserve(code_points.size());
  for (const char32_t c : code_points) append_utf8(out, c);
  return out;
}

bool is_space(char32_t c) {
  if (c <= 0x20) return c == 0x20 || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  if (c < 0x1680) return c == 0x85 || c == 0xA0;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_unspaced(char32_t c) {
  return (c >= 0x0E00 && c < 0x0EFF) || (c >= 0x2E80 && c < 0x3130) || (c >= 0x31A0 && c < 0xA4D0) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE50) || (c >= 0xFF00 && c < 0xFFEF) ||
         (c >= 0x20000 && c < 0x32000);
}

bool is_punctuation(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_letter_or_number(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

std::string to_lower(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  std::size_t i = 0;
  for (; i < utf8.size() && static_cast<unsigned char>(utf8[i]) < 0x80; ++i) {
    const char c = utf8[i];
    out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
  }
  if (i == utf8.size()) return out;
  out.clear();
  const std::u32string line = to_code_points(utf8);
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char32_t c = line[k];
    if (c == 0x0130) {  // İ: the only letter whose lower case is always two code points
      append_utf8(out, U'i');
      append_utf8(out, 0x0307);
    } else if (c == 0x03A3) {
      append_utf8(out, ends_a_word(line, k) ? 0x03C2 : 0x03C3);
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return out;
}

std::vector<std::string_view> split_words(std::string_view utf8) {
  std::vector<std::string_view> words;
  std::size_t begin = std::string_view::npos;  // of the word being read
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t at = i;
    const bool space = is_space(next_code_point(utf8, i));
    if (space && begin != std::string_view::npos) {
      words.push_back(utf8.substr(begin, at - begin));
      begin = std::string_view::npos;
    } else if (!space && begin == std::string_view::npos) {
      begin = at;
    }
  }
  if (begin != std::string_view::npos) words.push_back(utf8.substr(begin));
  return words;
}

std::string_view trim(std::string_view utf8) {
  std::size_t begin = utf8.size();
  std::size_t end = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t at = i;
    if (is_space(next_code_point(utf8, i))) continue;
    if (begin == utf8.size()) begin = at;
    end = i;
  }
  return begin < end ? utf8.substr(begin, end - begin) : std::string_view{};
}

std::vector<std::string_view> graphemes(std::string_view utf8) {
  std::vector<std::string_view> out;
  utf8proc_int32_t state = 0;
  char32_t previous = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    const std::size_t at = i;
    const char32_t c = next_code_point(utf8, i);
    if (at > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                                   static_cast<utf8proc_int32_t>(c), &state)) {
      out.push_back(utf8.substr(begin, at - begin));
      begin = at;
    }
    previous = c;
  }
  if (begin < utf8.size()) out.push_back(utf8.substr(begin));
  return out;
}

int columns(std::string_view utf8) {
  int width = 0;
  for (std::size_t i = 0; i < utf8.size();) {
    width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(next_code_point(utf8, i)));
  }
  return width;
}

}  // namespace fovea::text
