#include "fovea/chat.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "tasks/generation/options.hpp"
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

LatestTurns latest_turns(const Translator& model, std::span<const std::string> turns, std::int64_t most_tokens) {
  const auto most = static_cast<std::size_t>(std::get<TurnSourceConfig>(model.config().source).max_turns);
  if (turns.size() > most) turns = turns.last(most);
  if (most_tokens == 0) most_tokens = model.config().longest_source();
  for (;; turns = turns.subspan(1)) {
    LatestTurns latest{turns_line(turns)};
    latest.tokens = static_cast<std::int64_t>(model.tokenizers().source->encode(latest.line).size()) + 1;
    if (turns.size() <= 1 || most_tokens == 0 || latest.tokens <= most_tokens) return latest;
  }
}

AttentionMatrix attention_over_turns(const AttentionRecord& reply) {
  std::vector<std::size_t> turn_of;  // of each source token
  std::size_t turn = 0;
  for (const std::string& token : reply.source) {
    turn_of.push_back(turn);
    if (token == text::special_token(bos_id)) ++turn;
  }
  AttentionMatrix sums{reply.weights.rows, static_cast<std::int64_t>(turn) + 1, {}};
  sums.values.resize(static_cast<std::size_t>(sums.rows * sums.columns), 0.0F);
  for (std::int64_t t = 0; t < sums.rows; ++t) {
    for (std::size_t s = 0; s < turn_of.size(); ++s) {
      sums.values[static_cast<std::size_t>(t * sums.columns) + turn_of[s]] +=
          reply.weights.at(t, static_cast<std::int64_t>(s));
    }
  }
  return sums;
}

Chat::Chat(const std::filesystem::path& folder, const GenerateOptions& options)
    : translator_(std::make_unique<const Translator>(folder)), options_(reply_options(options)) {
  if (translator_->config().task() != Task::chat) {
    throw UsageError("model", fmt::format("{} is of the task {}, not chat", folder.string(),
                                          enum_text(translator_->config().task())));
  }
  options_.attention = options_.attention || translator_->attends();
  if (options_.n_best != 1)
    throw UsageError("n_best", fmt::format("a reply is one output, {} are asked for", options_.n_best));
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
  // Its number is another one for every turn, so that each is sampled anew.
  const GenerateCall call{.first_line = static_cast<std::int64_t>(turns_.size())};
  const std::string line = latest_turns(*translator_, all).line;
  Generated said = std::move(translator_->translate(std::span(&line, 1), options_, call)[0][0]);
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
