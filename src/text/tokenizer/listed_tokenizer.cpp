#include "text/tokenizer/listed_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/segment.hpp"
#include "text/tokenizer/byte_pairs.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::string_view format_name = "fovea-vocabulary";
constexpr int segmented_version = 2;  // of a vocabulary whose words were cut: what reads 1 only cannot cut them

// A word or character of the text that could be taken for the token of a space has one ▁ more as a token.
bool is_marks(std::string_view token) {
  while (token.starts_with(visible_space)) token.remove_prefix(visible_space.size());
  return token.empty();
}

std::string escaped(std::string_view text) {
  return std::string(text) + std::string(visible_space);
}

// Calls visit(token) for each token of a line whose words are cut where their script has no spaces.
template <class Visit>
void each_segmented_word(std::string_view line, Visit&& visit) {
  std::string_view last;
  for (const std::string_view word : split_words(line)) {
    const bool space = !last.empty();
    const std::vector<std::string_view> parts = cut_unspaced(word);
    if (space && written_together(last, parts.front())) visit(visible_space);
    for (const std::string_view part : parts) {
      if (is_marks(part)) {
        visit(escaped(part));
      } else {
        visit(part);
      }
    }
    last = parts.back();
  }
}

// Calls visit(token) for each token of a line.
template <class Visit>
void each_token(ListedTokens tokens, std::string_view line, Visit&& visit) {
  switch (tokens.kind) {
    case TokenizerKind::word:
      if (tokens.segmented) return each_segmented_word(line, visit);
      for (const std::string_view word : split_words(line)) visit(word);
      return;
    case TokenizerKind::character: {
      bool first = true;
      for (const std::string_view word : split_words(line)) {
        if (!first) visit(visible_space);
        first = false;
        for (std::size_t i = 0; i < word.size();) {
          const std::size_t at = i;
          next_code_point(word, i);
          const std::string_view character = word.substr(at, i - at);
          if (character == visible_space) {
            visit(escaped(character));
          } else {
            visit(character);
          }
        }
      }
      return;
    }
    case TokenizerKind::label:
    case TokenizerKind::byte_pairs:
    case TokenizerKind::sentencepiece: {
      const std::string_view whole = trim(line);
      if (!whole.empty()) visit(whole);
      return;
    }
  }
}

// The text of tokens.
std::string joined(ListedTokens tokens, const std::vector<std::string_view>& pieces) {
  std::string line;
  std::string_view last;
  bool space = false;
  const bool marks = tokens.kind == TokenizerKind::character || tokens.segmented;
  for (const std::string_view piece : pieces) {
    const std::string_view text = marks && is_marks(piece) ? piece.substr(visible_space.size()) : piece;
    if (tokens.kind == TokenizerKind::character) {
      line += text.empty() ? " " : text;
    } else if (text.empty()) {
      space = true;
    } else {
      const bool together = tokens.segmented && !space && written_together(last, text);
      if (!line.empty() && !together) line += ' ';
      line += text;
      last = text;
      space = false;
    }
  }
  return line;
}

// Whether text in scripts without spaces is written without them: more of its words touch than are apart. Text that
// was cut with spaces before it came here stays as it is.
bool written_without_spaces(std::span<const std::vector<std::string>* const> lines) {
  std::int64_t together = 0;
  std::int64_t apart = 0;
  for (const auto* set : lines) {
    for (const std::string& line : *set) {
      // No byte of a character before U+0800 is as large: most lines need no closer look.
      if (std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xE0; }))
        continue;
      std::string_view last;
      for (const std::string_view word : split_words(line)) {
        const std::vector<std::string_view> parts = cut_unspaced(word);
        together += static_cast<std::int64_t>(parts.size()) - 1;
        apart += written_together(last, parts.front()) ? 1 : 0;
        last = parts.back();
      }
    }
  }
  return together > apart;
}

}  // namespace

void ListedTokenizer::encode(std::string_view line, std::vector<std::int32_t>& ids,
                             std::vector<std::string>* pieces) const {
  ids.clear();
  if (pieces != nullptr) pieces->clear();
  each_token(tokens_, line, [&](std::string_view token) {
    ids.push_back(vocabulary_.id(token));
    if (pieces != nullptr) pieces->emplace_back(token);
  });
}

std::string ListedTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(ids.size());
  for (const std::int32_t id : ids) {
    const std::string& token = vocabulary_.token(id);
    if (id != pad_id && id != bos_id && id != eos_id) pieces.push_back(token);
  }
  return joined(tokens_, pieces);
}

std::string ListedTokenizer::join(std::span<const std::string> pieces) const {
  return joined(tokens_, {pieces.begin(), pieces.end()});
}

void ListedTokenizer::save(const std::filesystem::path& folder, const std::string& name) const {
  const nlohmann::ordered_json out{{"format", format_name},
                                   {"version", tokens_.segmented ? segmented_version : 1},
                                   {"kind", name_of(tokens_.kind)},
                                   {"tokens", vocabulary_.tokens()}};
  write_whole_file(folder / (name + ".json"), out.dump(0) + "\n");
  std::error_code ignored;  // load_tokenizer() would take an earlier SentencePiece model for this one
  std::filesystem::remove(folder / (name + ".model"), ignored);
  std::filesystem::remove(folder / (name + ".pieces.json"), ignored);
}

TrainedTokenizer train_listed(std::span<const std::vector<std::string>* const> lines, const TokenizerOptions& options) {
  const ListedTokens tokens{options.kind, options.kind == TokenizerKind::word && written_without_spaces(lines)};
  TokenCounts counts;
  for (const auto* set : lines) {
    for (const std::string& line : *set) {
      each_token(tokens, line, [&counts](std::string_view token) { counts.add(token); });
    }
  }
  if (counts.total() == 0) throw UsageError("the text for the vocabulary is empty");
  const auto entries = counts.sorted();
  if (options.kind == TokenizerKind::label && counts.different() + special_ids > options.vocab) {
    throw UsageError(fmt::format("{} different labels need a vocab of {}, not {}", counts.different(),
                                 counts.different() + special_ids, options.vocab));
  }
  Vocabulary vocabulary;
  std::int64_t known = 0;
  std::int64_t taken = 0;
  for (const auto& [token, count] : entries) {
    if (vocabulary.size() >= options.vocab || count < options.min_count) break;
    if (!vocabulary.add(token)) continue;
    known += count;
    ++taken;
  }
  if (options.vocab <= special_ids) {
    throw UsageError("vocab",
                     fmt::format("{} leaves no room for tokens; at least {} is right", options.vocab, special_ids + 1));
  }
  if (taken == 0) {
    throw UsageError("min_count", fmt::format("none of {} tokens was met {} times, the most frequent {} times",
                                              entries.size(), options.min_count, entries.front().count));
  }
  TrainedTokenizer out;
  out.report.asked = options.vocab;
  out.report.size = vocabulary.size();
  out.report.left_out = counts.different() - taken;
  out.report.unknown_share = 1 - static_cast<double>(known) / static_cast<double>(counts.total());
  out.tokenizer = std::make_shared<ListedTokenizer>(tokens, std::move(vocabulary));
  return out;
}

std::shared_ptr<const Tokenizer> parse_listed(std::string_view bytes, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw FileError(where + ": " + what); };
  const auto json = parse_json(bytes, where);
  if (is_byte_pairs(json)) return parse_byte_pairs(json, where);
  if (!json.is_object() || json.value("format", nlohmann::json()) != format_name) {
    fail("not a vocabulary: \"format\" is not \"" + std::string(format_name) + "\"");
  }
  const nlohmann::json version = json.value("version", nlohmann::json());
  if (version != 1 && version != segmented_version) fail("\"version\" is not 1 or 2, those this program knows");
  const nlohmann::json kind_value = json.value("kind", nlohmann::json());
  TokenizerKind kind = TokenizerKind::sentencepiece;
  for (const TokenizerKind listed : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::label}) {
    if (kind_value == name_of(listed)) kind = listed;
  }
  if (kind == TokenizerKind::sentencepiece) fail("\"kind\" is not word, char or label");
  if (version == segmented_version && kind != TokenizerKind::word) fail("\"version\" 2 is for \"kind\" word only");
  Vocabulary vocabulary = vocabulary_of(json.value("tokens", nlohmann::json()), where);
  return std::make_shared<ListedTokenizer>(ListedTokens{kind, version == segmented_version}, std::move(vocabulary));
}

}  // namespace fovea::text
