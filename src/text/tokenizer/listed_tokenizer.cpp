#include "text/tokenizer/listed_tokenizer.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::string_view visible_space = "\u2581";  // ▁, as SentencePiece shows it
constexpr std::string_view format_name = "fovea-vocabulary";

// Calls visit(token) for each token of a line.
template <class Visit>
void each_token(TokenizerKind kind, std::string_view line, Visit&& visit) {
  switch (kind) {
    case TokenizerKind::word:
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
          visit(word.substr(at, i - at));
        }
      }
      return;
    }
    case TokenizerKind::label:
    case TokenizerKind::sentencepiece: {
      const std::string_view whole = trim(line);
      if (!whole.empty()) visit(whole);
      return;
    }
  }
}

}  // namespace

void ListedTokenizer::encode(std::string_view line, std::vector<std::int32_t>& ids,
                             std::vector<std::string>* pieces) const {
  ids.clear();
  if (pieces != nullptr) pieces->clear();
  each_token(kind_, line, [&](std::string_view token) {
    ids.push_back(vocabulary_.id(token));
    if (pieces != nullptr) pieces->emplace_back(token);
  });
}

std::string ListedTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string line;
  for (const std::int32_t id : ids) {
    const std::string& token = vocabulary_.token(id);
    if (id == pad_id || id == bos_id || id == eos_id) continue;
    if (kind_ == TokenizerKind::character) {
      line += token == visible_space ? " " : token;
    } else {
      if (!line.empty()) line += ' ';
      line += token;
    }
  }
  return line;
}

void ListedTokenizer::save(const std::filesystem::path& folder, const std::string& name) const {
  const nlohmann::ordered_json out{
      {"format", format_name}, {"version", 1}, {"kind", name_of(kind_)}, {"tokens", vocabulary_.tokens()}};
  write_whole_file(folder / (name + ".json"), out.dump(0) + "\n");
  std::error_code ignored;  // a SentencePiece model that stood there before would be taken for this one
  std::filesystem::remove(folder / (name + ".model"), ignored);
}

TrainedTokenizer train_listed(std::span<const std::vector<std::string>* const> lines, const TokenizerOptions& options) {
  TokenCounts counts;
  for (const auto* set : lines) {
    for (const std::string& line : *set) {
      each_token(options.kind, line, [&counts](std::string_view token) { counts.add(token); });
    }
  }
  if (counts.total() == 0) throw UsageError("the text for the vocabulary is empty");
  const auto entries = counts.sorted();
  if (options.kind == TokenizerKind::label && counts.different() + special_ids > options.vocab) {
    throw UsageError(fmt::format("{} different labels need --vocab {}, not {}", counts.different(),
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
  if (taken == 0) {
    throw UsageError(
        fmt::format("a vocabulary of at most {} tokens met at least {} times is empty; the most frequent "
                    "of {} was met {} times",
                    options.vocab, options.min_count, entries.size(), entries.front().count));
  }
  TrainedTokenizer out;
  out.report.asked = options.vocab;
  out.report.size = vocabulary.size();
  out.report.left_out = counts.different() - taken;
  out.report.unknown_share = 1 - static_cast<double>(known) / static_cast<double>(counts.total());
  out.tokenizer = std::make_shared<ListedTokenizer>(options.kind, std::move(vocabulary));
  return out;
}

std::shared_ptr<const Tokenizer> parse_listed(std::string_view bytes, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw FileError(where + ": " + what); };
  const auto json = parse_json(bytes, where);
  if (!json.is_object() || json.value("format", nlohmann::json()) != format_name) {
    fail("not a vocabulary: \"format\" is not \"" + std::string(format_name) + "\"");
  }
  if (json.value("version", nlohmann::json()) != 1) fail("\"version\" is not 1, the only one this program knows");
  const nlohmann::json kind_value = json.value("kind", nlohmann::json());
  TokenizerKind kind = TokenizerKind::sentencepiece;
  for (const TokenizerKind listed : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::label}) {
    if (kind_value == name_of(listed)) kind = listed;
  }
  if (kind == TokenizerKind::sentencepiece) fail("\"kind\" is not word, char or label");
  const nlohmann::json tokens = json.value("tokens", nlohmann::json());
  if (!tokens.is_array() || tokens.size() < special_ids || tokens.size() > std::numeric_limits<std::int32_t>::max()) {
    fail("\"tokens\" is not a list that begins with <pad>, <unk>, <s>, </s>");
  }
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_string()) fail(fmt::format("token {} is not a string", i));
    const auto& token = tokens[i].get_ref<const std::string&>();
    if (i < special_ids) {
      if (token != special_token(static_cast<std::int32_t>(i))) {
        fail(fmt::format("token {} is not {}", i, special_token(static_cast<std::int32_t>(i))));
      }
    } else if (token.empty() || token.find('\0') != std::string::npos || !vocabulary.add(token)) {
      fail(fmt::format("token {} is empty, special or stands there twice", i));
    }
  }
  return std::make_shared<ListedTokenizer>(kind, std::move(vocabulary));
}

}  // namespace fovea::text
