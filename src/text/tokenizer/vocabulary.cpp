#include "text/tokenizer/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "fovea/text.hpp"

namespace fovea::text {
namespace {

const std::array<std::string, special_ids>& special_tokens() {
  static const std::array<std::string, special_ids> spelled{"<pad>", "<unk>", "<s>", "</s>"};
  return spelled;
}

}  // namespace

const std::string& special_token(std::int32_t id) {
  return special_tokens()[static_cast<std::size_t>(id)];
}

void TokenCounts::add(std::string_view token) {
  ++total_;
  const auto found = counts_.find(token);
  if (found != counts_.end()) {
    ++found->second;
  } else {
    counts_.emplace(token, 1);
  }
}

std::vector<TokenCounts::Entry> TokenCounts::sorted() const {
  std::vector<Entry> entries;
  entries.reserve(counts_.size());
  for (const auto& [token, count] : counts_) entries.push_back({token, count});
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.count != b.count ? a.count > b.count : a.token < b.token; });
  return entries;
}

Vocabulary::Vocabulary() : tokens_(special_tokens().begin(), special_tokens().end()) {}

bool Vocabulary::add(std::string_view token) {
  const auto& special = special_tokens();
  if (std::find(special.begin(), special.end(), token) != special.end()) return false;
  if (!ids_.emplace(token, size()).second) return false;
  tokens_.emplace_back(token);
  return true;
}

std::int32_t Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? unk_id : found->second;
}

const std::string& Vocabulary::token(std::int32_t id) const {
  if (id < 0 || id >= size()) throw UsageError(fmt::format("no token {}: the vocabulary has 0 to {}", id, size() - 1));
  return tokens_[static_cast<std::size_t>(id)];
}

Vocabulary vocabulary_of(const nlohmann::json& tokens, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw FileError(where + ": " + what); };
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
      fail(fmt::format("token {} is empty, special or a duplicate", i));
    }
  }
  return vocabulary;
}

}  // namespace fovea::text
