#include "text/unicode.hpp"

#include <fmt/format.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>

#include <cstdint>
#include <limits>

#include "fovea/error.hpp"

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
  if (c < 0x0E00) return false;
  return c < 0x0EFF || (c >= 0x1000 && c < 0x10A0) || (c >= 0x1780 && c < 0x1800) || (c >= 0x2E80 && c < 0x3130) ||
         (c >= 0x31A0 && c < 0xA4D0) || (c >= 0xA9E0 && c < 0xAA00) || (c >= 0xAA60 && c < 0xAA80) ||
         (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE50) || (c >= 0xFF00 && c < 0xFFEF) ||
         (c >= 0x20000 && c < 0x32000);
}

bool is_punctuation(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_P_MASK) != 0;
}

bool is_letter(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_L_MASK) != 0;
}

bool is_number(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0;
}

bool is_letter_or_number(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
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
  if (utf8.size() > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(fmt::format("a text of {} bytes is too long for lower case; at most {}", utf8.size(),
                                 std::numeric_limits<std::int32_t>::max()));
  }
  out.clear();
  icu::StringByteSink<std::string> sink(&out);
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, {utf8.data(), static_cast<std::int32_t>(utf8.size())}, sink, nullptr, status);
  if (U_FAILURE(status)) throw Error(fmt::format("lower case: {}", u_errorName(status)));
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

int columns(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  if (c < 0x300) return 1;
  constexpr std::uint32_t none = U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK;
  const bool vowel = c >= 0x1160 && c <= 0x11FF;  // the second and third letter of a Korean syllable
  if ((U_GET_GC_MASK(point) & none) != 0 || vowel || u_hasBinaryProperty(point, UCHAR_EMOJI_MODIFIER)) return 0;
  const int width = u_getIntPropertyValue(point, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

}  // namespace fovea::text
