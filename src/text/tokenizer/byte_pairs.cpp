#include "text/tokenizer/byte_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::string_view byte_pairs_format = "fovea-byte-pairs";

// The character that stands for each byte: itself where it is printable in Latin-1, else the next one from U+0100 on.
const std::array<char32_t, 256>& character_of_byte() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> made{};
    char32_t next = 256;
    for (char32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      made[b] = printable ? b : next++;
    }
    return made;
  }();
  return table;
}

// The other way round; -1: it stands for none.
int byte_of_character(char32_t c) {
  static const std::vector<int> table = [] {
    std::vector<int> made(512, -1);
    for (int b = 0; b < 256; ++b) made[character_of_byte()[static_cast<std::size_t>(b)]] = b;
    return made;
  }();
  return c < table.size() ? table[c] : -1;
}

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32U | static_cast<std::uint32_t>(right);
}

enum class Class { letter, number, space, other };

Class class_of(char32_t c) {
  if (is_letter(c)) return Class::letter;
  if (is_number(c)) return Class::number;
  return is_space(c) ? Class::space : Class::other;
}

// Where the run of characters of one class that begins at `at` ends.
std::size_t end_of_run(std::string_view utf8, std::size_t at, Class wanted) {
  while (at < utf8.size()) {
    std::size_t next = at;
    if (class_of(next_code_point(utf8, next)) != wanted) break;
    at = next;
  }
  return at;
}

// The length of an English ending at the start of `rest`, or 0.
std::size_t ending_length(std::string_view rest) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (rest.starts_with(ending)) return ending.size();
  }
  return 0;
}

// White space up to a word is a piece of its own but for its last character, which goes with the word if it is a space.
std::size_t end_of_white_space(std::string_view utf8, std::size_t at) {
  const std::size_t end = end_of_run(utf8, at, Class::space);
  if (end == utf8.size()) return end;
  std::size_t last = at;
  for (std::size_t i = at; i < end;) {
    last = i;
    next_code_point(utf8, i);
  }
  return last > at ? last : end;
}

std::size_t end_of_word(std::string_view utf8, std::size_t at) {
  if (const std::size_t length = ending_length(utf8.substr(at)); length > 0) return at + length;
  const std::size_t begin = utf8[at] == ' ' ? at + 1 : at;
  if (begin < utf8.size()) {
    std::size_t next = begin;
    const Class first = class_of(next_code_point(utf8, next));
    if (first != Class::space) return end_of_run(utf8, begin, first);
  }
  return end_of_white_space(utf8, at);
}

}  // namespace

std::vector<std::string_view> byte_pair_words(std::string_view utf8) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t end = end_of_word(utf8, at);
    words.push_back(utf8.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string text_of_bytes(std::string_view characters) {
  std::string bytes;
  for (std::size_t i = 0; i < characters.size();) {
    const std::size_t from = i;
    const int byte = byte_of_character(next_code_point(characters, i));
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
    } else {
      bytes += characters.substr(from, i - from);
    }
  }
  if (invalid_utf8(bytes) == std::string_view::npos) return bytes;
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) append_utf8(text, next_code_point(bytes, i));
  return text;
}

BytePairTokenizer::BytePairTokenizer(Vocabulary vocabulary, const std::vector<Merge>& merges, const std::string& where)
    : vocabulary_(std::move(vocabulary)) {
  for (int b = 0; b < 256; ++b) {
    std::string spelled;
    append_utf8(spelled, character_of_byte()[static_cast<std::size_t>(b)]);
    of_byte_[b] = vocabulary_.id(spelled);
    if (of_byte_[b] == unk_id) {
      throw FileError(
          fmt::format("{}: the token {} of byte {} is missing; a byte-level vocabulary has all", where, spelled, b));
    }
  }
  for (const auto& [left, right] : merges) {
    const Merged merged{static_cast<std::int32_t>(merges_.size()), vocabulary_.id(left), vocabulary_.id(right),
                        vocabulary_.id(left + right)};
    if (merged.left == unk_id || merged.right == unk_id || merged.whole == unk_id) {
      throw FileError(fmt::format("{}: the merge of {} and {} is not of tokens of the vocabulary", where, left, right));
    }
    merges_.push_back(merged);
    ranks_.emplace(pair_key(merged.left, merged.right), merged.rank);
  }
}

// The pair of the lowest rank is merged first, of equal ones the leftmost. A queue holds the pairs that were neighbours
// when they were found; pairs that have lost a part since are skipped. So a word of n bytes takes n log n steps.
void BytePairTokenizer::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  struct Part {
    std::int32_t id, before, after;  // -1: none
  };
  struct Found {
    std::int32_t rank, at;
    bool operator>(const Found& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::vector<Part> parts;
  parts.reserve(word.size());
  const auto count = static_cast<std::int32_t>(word.size());
  for (std::int32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(i)]);
    parts.push_back({of_byte_[byte], i - 1, i + 1 < count ? i + 1 : -1});
  }
  const auto part = [&parts](std::int32_t i) -> Part& { return parts[static_cast<std::size_t>(i)]; };
  std::priority_queue<Found, std::vector<Found>, std::greater<>> queue;
  const auto find = [&](std::int32_t at) {
    if (at < 0 || part(at).after < 0) return;
    const auto found = ranks_.find(pair_key(part(at).id, part(part(at).after).id));
    if (found != ranks_.end()) queue.push({found->second, at});
  };
  for (std::int32_t i = 0; i + 1 < count; ++i) find(i);
  while (!queue.empty()) {
    const auto [rank, at] = queue.top();
    queue.pop();
    const Merged& merge = merges_[static_cast<std::size_t>(rank)];
    Part& left = part(at);
    if (left.id != merge.left || left.after < 0 || part(left.after).id != merge.right) continue;
    Part& right = part(left.after);
    left.id = merge.whole;
    left.after = right.after;
    right.id = -1;
    if (left.after >= 0) part(left.after).before = at;
    find(left.before);
    find(at);
  }
  for (std::int32_t i = 0; i >= 0 && count > 0; i = part(i).after) ids.push_back(part(i).id);
}

void BytePairTokenizer::encode(std::string_view line, std::vector<std::int32_t>& ids,
                               std::vector<std::string>* pieces) const {
  ids.clear();
  for (const std::string_view word : byte_pair_words(line)) encode_word(word, ids);
  if (pieces == nullptr) return;
  pieces->clear();
  for (const std::int32_t id : ids) pieces->push_back(vocabulary_.token(id));
}

std::string BytePairTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string characters;
  for (const std::int32_t id : ids) {
    const std::string& token = vocabulary_.token(id);
    if (id != pad_id && id != bos_id && id != eos_id) characters += token;
  }
  return text_of_bytes(characters);
}

std::string BytePairTokenizer::join(std::span<const std::string> pieces) const {
  std::string characters;
  for (const std::string& piece : pieces) characters += piece;
  return text_of_bytes(characters);
}

void BytePairTokenizer::save(const std::filesystem::path& folder, const std::string& name) const {
  std::vector<std::string> merges;
  for (const Merged& m : merges_) merges.push_back(vocabulary_.token(m.left) + " " + vocabulary_.token(m.right));
  const nlohmann::ordered_json out{
      {"format", byte_pairs_format}, {"version", 1}, {"tokens", vocabulary_.tokens()}, {"merges", merges}};
  write_whole_file(folder / (name + ".json"), out.dump(0) + "\n");
  std::error_code ignored;  // load_tokenizer() would take an earlier SentencePiece model for this one
  std::filesystem::remove(folder / (name + ".model"), ignored);
  std::filesystem::remove(folder / (name + ".pieces.json"), ignored);
}

std::vector<Merge> parse_merges(std::string_view text, const std::string& where) {
  std::vector<Merge> merges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos || invalid_utf8(line) != std::string_view::npos) {
      throw FileError(fmt::format("{}: line {} is not two tokens with a space between them", where, number));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

bool is_byte_pairs(const nlohmann::json& json) {
  return json.is_object() && json.value("format", nlohmann::json()) == byte_pairs_format;
}

std::shared_ptr<const Tokenizer> parse_byte_pairs(const nlohmann::json& json, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw FileError(where + ": " + what); };
  if (json.value("version", nlohmann::json()) != 1) fail("\"version\" is not 1, the one this program knows");
  std::string merges;
  const nlohmann::json list = json.value("merges", nlohmann::json());
  if (!list.is_array()) fail("\"merges\" is not a list");
  for (const auto& merge : list) {
    if (!merge.is_string()) fail("a merge is not a string");
    merges += merge.get_ref<const std::string&>() + "\n";
  }
  Vocabulary vocabulary = vocabulary_of(json.value("tokens", nlohmann::json()), where);
  return std::make_shared<BytePairTokenizer>(std::move(vocabulary), parse_merges(merges, where + ": \"merges\""),
                                             where);
}

}  // namespace fovea::text
