#include "text/sentences.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "text/unicode.hpp"

namespace fovea::text {
namespace {

bool is_line_end(char32_t c) {
  return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool ends_anywhere(char32_t c) {  // 。 ！ ？ ｡ । ॥
  return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF61 || c == 0x0964 || c == 0x0965;
}

bool ends_before_space(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == 0x2026;
}

bool closes(char32_t c) {  // ) ] " ' ” ’ » 」 』 ） 》 】
  return c == ')' || c == ']' || c == '"' || c == '\'' || c == 0x201D || c == 0x2019 || c == 0xBB || c == 0x300D ||
         c == 0x300F || c == 0xFF09 || c == 0x300B || c == 0x3011;
}

bool opens(char32_t c) {  // ( [ " ' “ ‘ „ « 「 『 ¿ ¡ –
  return c == '(' || c == '[' || c == '"' || c == '\'' || c == 0x201C || c == 0x2018 || c == 0x201E || c == 0xAB ||
         c == 0x300C || c == 0x300E || c == 0xBF || c == 0xA1 || c == 0x2013 || c == 0x2014;
}

bool is_pause(char32_t c) {  // , ; : ， ； ： 、
  return c == ',' || c == ';' || c == ':' || c == 0xFF0C || c == 0xFF1B || c == 0xFF1A || c == 0x3001;
}

bool is_capital(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  const std::string one = to_utf8({&c, 1});
  return to_lower(one) != one;
}

constexpr std::array<std::string_view, 54> kAbbreviations = {
    "mr",  "mrs", "ms",  "dr",  "prof", "st",  "jr",  "sr",   "vs",  "no",   "nos", "vol",   "fig", "gen",
    "col", "lt",  "sgt", "rev", "hon",  "jan", "feb", "mar",  "apr", "jun",  "jul", "aug",   "sep", "sept",
    "oct", "nov", "dec", "mon", "tue",  "wed", "thu", "fri",  "sat", "sun",  "nr",  "bzw",   "ca",  "hr",
    "fr",  "str", "bd",  "abb", "art",  "av",  "mme", "mlle", "sra", "srta", "etc", "approx"};

// One line's code points and where each begins.
struct Line {
  std::u32string points;
  std::vector<std::size_t> at;  // one more than points: the end
};

// The first word at or behind `at`, in small letters.
std::string word_after(const Line& line, std::size_t at) {
  while (at < line.points.size() && is_space(line.points[at])) ++at;
  std::size_t end = at;
  while (end < line.points.size() && !is_space(line.points[end]) && line.points[end] >= U'A') ++end;
  return to_lower(to_utf8(line.points.substr(at, end - at)));
}

// In German, Danish, Norwegian and Swedish, which write a dot behind the number of a day.
bool is_month(const std::string& word) {
  static constexpr std::array<std::string_view, 18> kMonths{
      "januar", "jänner", "februar", "märz",      "mars",    "marts",    "april",    "mai",      "maj",
      "juni",   "juli",   "august",  "september", "oktober", "november", "dezember", "december", "desember"};
  return std::find(kMonths.begin(), kMonths.end(), word) != kMonths.end();
}

bool is_abbreviation(const Line& line, std::size_t begin, std::size_t stop) {
  std::size_t first = stop;
  while (first > begin && !is_space(line.points[first - 1]) && !opens(line.points[first - 1])) --first;
  std::u32string word = line.points.substr(first, stop - first);
  if (const std::size_t inner = word.find_last_of(U'.'); inner != std::u32string::npos) word = word.substr(inner + 1);
  const bool number =
      !word.empty() && std::all_of(word.begin(), word.end(), [](char32_t c) { return c >= U'0' && c <= U'9'; });
  if (number) return word.size() <= 2 && is_month(word_after(line, stop + 1));  // 3. Mai
  if (word.size() <= 1) return true;                                            // an initial; the B of z.B.
  const std::string lower = to_lower(to_utf8(word));
  return std::find(kAbbreviations.begin(), kAbbreviations.end(), lower) != kAbbreviations.end();
}

// One past the end of the sentence that begins at `begin`.
std::size_t sentence_end(const Line& line, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const bool anywhere = ends_anywhere(line.points[i]);
    if (!anywhere && !ends_before_space(line.points[i])) continue;
    std::size_t next = i + 1;
    while (next < end &&
           (closes(line.points[next]) || ends_before_space(line.points[next]) || ends_anywhere(line.points[next]))) {
      ++next;
    }
    if (anywhere || next == end) return next;
    std::size_t follows = next;
    while (follows < end && is_space(line.points[follows])) ++follows;
    if (follows == next) continue;
    while (follows < end && opens(line.points[follows])) ++follows;
    if (follows == end || !(is_capital(line.points[follows]) || is_unspaced(line.points[follows]))) continue;
    if (line.points[i] == '.' && next == i + 1 && is_abbreviation(line, begin, i)) continue;
    return next;
  }
  return end;
}

// Where to cut what is too long: after the last pause, else at the last space, else anywhere.
std::size_t shortened(const Line& line, std::size_t begin, std::size_t end, std::size_t longest) {
  if (end - begin <= longest) return end;
  const std::size_t limit = begin + longest;
  for (std::size_t i = limit; i > begin + longest / 2; --i) {
    if (is_pause(line.points[i - 1])) return i;
  }
  for (std::size_t i = limit; i > begin; --i) {
    if (is_space(line.points[i])) return i;
  }
  return limit;
}

}  // namespace

std::vector<Part> split_sentences(std::string_view utf8, std::size_t longest) {
  longest = std::max<std::size_t>(1, longest);
  Line line;
  for (std::size_t at = 0; at < utf8.size();) {
    line.at.push_back(at);
    line.points.push_back(next_code_point(utf8, at));
  }
  line.at.push_back(utf8.size());
  const std::size_t count = line.points.size();
  std::vector<Part> parts;
  const auto add = [&](std::size_t from, std::size_t to, bool sentence) {
    if (to > from) parts.push_back({utf8.substr(line.at[from], line.at[to] - line.at[from]), sentence});
  };
  std::size_t line_end = 0;
  for (std::size_t i = 0; i < count;) {
    std::size_t text = i;
    while (text < count && is_space(line.points[text])) ++text;
    add(i, text, false);
    if (text == count) break;
    if (line_end <= text) {
      line_end = text;
      while (line_end < count && !is_line_end(line.points[line_end])) ++line_end;
    }
    const std::size_t seen = std::min(line_end, text + longest + 1);  // so that one long line takes linear time
    std::size_t end = shortened(line, text, sentence_end(line, text, seen), longest);
    i = end;
    while (end > text && is_space(line.points[end - 1])) --end;
    add(text, end, true);
    add(end, i, false);
  }
  return parts;
}

}  // namespace fovea::text
