#include "fovea/chat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "text/tokenizer/vocabulary.hpp"

namespace fovea {

std::string turns_line(std::span<const std::string> turns) {
  std::string line;
  for (const std::string& turn : turns) {
    if (!line.empty()) line += '\t';
    for (const char c : turn) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
  return line;
}

std::vector<std::vector<float>> attention_over_turns(const Translation& reply) {
  std::vector<std::vector<float>> out;
  for (const auto& row : reply.attention) {
    auto& sums = out.emplace_back(1, 0.0F);
    for (std::size_t s = 0; s < row.size(); ++s) {
      sums.back() += row[s];
      if (reply.source_tokens[s] == text::special_token(bos_id)) sums.push_back(0);
    }
  }
  return out;
}

Chat::Chat(const std::filesystem::path& folder, const ChatOptions& options)
    : translator_(std::make_unique<const Translator>(folder)), options_(options) {
  if (translator_->config().task() != Task::chat) {
    throw UsageError(
        fmt::format("model: {} is of the task {}, not chat", folder.string(), enum_text(translator_->config().task())));
  }
  options_.attention = options_.attention || translator_->attends();
  translator_->check(options_);
}

Chat::~Chat() = default;
Chat::Chat(Chat&&) noexcept = default;
Chat& Chat::operator=(Chat&&) noexcept = default;

std::string Chat::reply(const std::string& text) {
  const std::string turn = turns_line(std::span(&text, 1));
  if (translator_->tokenizers().source->encode(turn).empty()) return {};
  std::vector<std::string> all = turns_;
  all.push_back(turn);
  const auto most = static_cast<std::size_t>(std::get<TurnSourceConfig>(translator_->config().source).max_turns);
  const std::size_t from = all.size() > most ? all.size() - most : 0;
  TranslateOptions how = options_;
  how.first_line = static_cast<std::int64_t>(turns_.size());  // another sample for every turn
  // Old turns are left out as far as the model's positions demand.
  std::string line = turns_line(std::span(all).subspan(from));
  for (std::size_t first = from + 1; first < all.size(); ++first) {
    const auto length = static_cast<std::int64_t>(translator_->tokenizers().source->encode(line).size()) + 1;
    const std::int64_t longest = translator_->config().longest_source();
    if (longest == 0 || length <= longest) break;
    line = turns_line(std::span(all).subspan(first));
  }
  Translation said = translator_->translate(line, how);
  turns_ = std::move(all);
  turns_.push_back(said.text);
  last_ = std::move(said);
  return last_.text;
}

void Chat::reset() {
  turns_.clear();
  last_ = {};
}

}  // namespace fovea
