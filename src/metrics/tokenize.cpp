// The tokenizers of BLEU. Scores are comparable only between equal tokenizers, so each follows sacreBLEU to the letter,
// including what it does by accident.
#include <algorithm>
#include <array>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_stop(char c) {
  return c == '.' || c == ',';
}

// ASCII punctuation that is always a token of its own: all but ' - . ,
bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// The four rewritings of mteval-v13a, each a left-to-right pass whose matches do not overlap. They look at single
// bytes, which is safe: only ASCII is rewritten, and the last byte of any other character is no digit either.
std::string separate_punctuation(std::string_view line) {
  std::string a;
  for (const char c : line) {
    if (is_symbol(c)) {
      (a += ' ') += c;
      a += ' ';
    } else {
      a += c;
    }
  }
  std::string b;  // a full stop or comma unless a digit is before it
  for (std::size_t i = 0; i < a.size(); ++i) {
    b += a[i];
    if (!is_digit(a[i]) && i + 1 < a.size() && is_stop(a[i + 1])) {
      (b += ' ') += a[++i];
      b += ' ';
    }
  }
  std::string c;  // the same unless a digit follows
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (is_stop(b[i]) && i + 1 < b.size() && !is_digit(b[i + 1])) {
      (c += ' ') += b[i];
      (c += ' ') += b[++i];
    } else {
      c += b[i];
    }
  }
  std::string d;  // a dash after a digit
  for (std::size_t i = 0; i < c.size(); ++i) {
    d += c[i];
    if (is_digit(c[i]) && i + 1 < c.size() && c[i + 1] == '-') {
      d += " - ";
      ++i;
    }
  }
  return d;
}

void replace_all(std::string& line, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size()) {
    line.replace(at, from.size(), to);
  }
}

std::string tokenize_13a(std::string_view line) {
  std::string padded = " ";
  padded += line;
  padded += ' ';
  replace_all(padded, "<skipped>", "");
  replace_all(padded, "&quot;", "\"");
  replace_all(padded, "&amp;", "&");
  replace_all(padded, "&lt;", "<");
  replace_all(padded, "&gt;", ">");
  return separate_punctuation(padded);
}

// The ranges sacreBLEU treats as Chinese. Two of them were meant as the planes of Extension B and of the compatibility
// supplement, but are written there as U+2000 0 to U+2A6D 6 and U+2F80 0 to U+2FA1 d, which is U+2001 to U+2A6D and
// U+2F81 to U+2FA1: curly quotes, dashes and arrows are split off and Extension B is not. Scores depend on it.
bool is_chinese(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 21> ranges{
      {{0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F}, {0x3100, 0x312F},
       {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FA5},
       {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F},
       {0xFF00, 0xFFEF}, {0x2600, 0x26FF}, {0x2700, 0x27BF}}};
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return r.first <= c && c <= r.last; });
}

std::string tokenize_zh(std::string_view line) {
  line = text::trim(line);
  std::string apart;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t at = i;
    const bool alone = is_chinese(text::next_code_point(line, i));
    if (alone) apart += ' ';
    apart += line.substr(at, i - at);
    if (alone) apart += ' ';
  }
  return separate_punctuation(apart);
}

std::string tokenize_characters(std::string_view line) {
  std::string apart;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t at = i;
    text::next_code_point(line, i);
    apart += line.substr(at, i - at);
    apart += ' ';
  }
  return apart;
}

}  // namespace

MetricTokenizer metric_tokenizer(std::string_view name) {
  if (name == "13a") return MetricTokenizer::mteval_13a;
  if (name == "zh") return MetricTokenizer::zh;
  if (name == "char") return MetricTokenizer::character;
  if (name == "none") return MetricTokenizer::none;
  throw UsageError("no tokenizer '" + std::string(name) + "' for metrics; there are 13a, zh, char and none");
}

std::vector<std::string> metric_words(std::string_view line, MetricTokenizer how) {
  std::string spaced;
  switch (how) {
    case MetricTokenizer::mteval_13a:
      spaced = tokenize_13a(line);
      break;
    case MetricTokenizer::zh:
      spaced = tokenize_zh(line);
      break;
    case MetricTokenizer::character:
      spaced = tokenize_characters(line);
      break;
    case MetricTokenizer::none:
      spaced = line;
      break;
  }
  const auto words = text::split_words(spaced);
  return {words.begin(), words.end()};
}

}  // namespace fovea
