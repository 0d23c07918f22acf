#include "server/api/models/chat_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/heap_bytes.hpp"
#include "fovea/error.hpp"
#include "server/api/answer_memory.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kLongestTalk = 1024;  // tokens of a conversation

std::size_t longest_talk(const ModelConfig& config) {
  const std::int64_t positions = config.longest_source();
  return positions > 0 ? std::min(kLongestTalk, static_cast<std::size_t>(positions)) : kLongestTalk;
}

ChatJob& chat_job_of(const Item& item) {
  return static_cast<ChatJob&>(*item.job);  // a model receives only its own jobs
}

}  // namespace

std::unique_ptr<Model> ChatModel::load(const ModelPlace& place) {
  return std::make_unique<ChatModel>(place.name_or_folder(),
                                     std::make_unique<const Translator>(place.folder, place.load));
}

ChatModel::ChatModel(std::string name, std::unique_ptr<const Translator> translator)
    : Model(Task::chat, std::move(name)),
      translator_(std::move(translator)),
      longest_(longest_talk(translator_->config())) {}

void ChatModel::add_description(nlohmann::json& json) const {
  const auto& source = std::get<TurnSourceConfig>(translator_->config().source);
  json["attention"] = attends();
  json["turns"] = enum_text(source.turns);
  json["max_turns"] = source.max_turns;
  json["languages"] = translator_->config().languages;
}

std::string ChatModel::line(std::span<const std::string> turns) const {
  LatestTurns latest = latest_turns(*translator_, turns, static_cast<std::int64_t>(longest_));
  if (latest.tokens > static_cast<std::int64_t>(longest_)) {
    throw Refusal(400, fmt::format("Invalid request: the last turn has {} tokens, the model {} reads up to {}",
                                   latest.tokens, name(), longest_));
  }
  return std::move(latest.line);
}

bool ChatModel::together(const Job& a, const Job& b) const {
  return share_batch(static_cast<const ChatJob&>(a).how, static_cast<const ChatJob&>(b).how);
}

std::size_t ChatModel::needs(const Item& item) const {
  const ChatJob& job = chat_job_of(item);
  return most_attention_bytes(job.lines[item.line], longest_, job.how);
}

BatchTokens ChatModel::run(std::span<const Item> items, BatchContext& context) const {
  std::vector<std::string> lines;
  lines.reserve(items.size());
  for (const Item& item : items) lines.push_back(item.job->lines[item.line]);
  auto results = translator_->translate(lines, chat_job_of(items[0]).how);
  BatchTokens done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Generated& t = results[i][0];
    done.read += static_cast<std::int64_t>(t.attention.source.size());
    done.written += static_cast<std::int64_t>(t.attention.target.size());
    context.release(*items[i].job, needs(items[i]) - std::min(needs(items[i]), heap_bytes(results[i])));
    chat_job_of(items[i]).replies[items[i].line] = std::move(t);
  }
  return done;
}

}  // namespace fovea::server
