// POST /chat: replies to the turns of a conversation, with the attention of the reply.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "server/api/answer_memory.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/chat_model.hpp"
#include "server/api/options.hpp"
#include "server/api/texts/limits.hpp"
#include "server/api/texts/texts.hpp"
#include "tasks/generation/options.hpp"
#include "view/record/attention_json.hpp"

namespace fovea::server {
namespace {

// The parameter turns: an array of strings, oldest first; in a form a string with a line per turn.
std::vector<std::string> turns_of(const Fields& fields) {
  const nlohmann::json& given = fields["turns"];
  std::vector<std::string> turns;
  if (given.is_string()) {
    const auto& text = given.get_ref<const std::string&>();
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      turns.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  } else if (given.is_array()) {
    for (const auto& turn : given) {
      if (!turn.is_string()) throw Refusal(400, "Invalid request: turns parameter is not an array of strings");
      turns.push_back(turn.get<std::string>());
    }
  } else if (!given.is_null()) {
    throw Refusal(400, "Invalid request: turns parameter is not an array of strings");
  }
  const auto blank = [](const std::string& turn) { return turn.find_first_not_of(" \t\r\n") == std::string::npos; };
  if (turns.empty() || blank(turns.back())) throw Refusal(400, "Invalid request: missing turns parameter");
  return turns;
}

struct ChatWork {
  std::shared_ptr<ChatJob> job = std::make_shared<ChatJob>();
  std::string model;
  bool attention = false;

  [[nodiscard]] Response response(const std::shared_ptr<MemoryBudget>& budget) const {
    job->check();
    const Generated& t = job->replies.at(0);
    const AttentionRecord& record = t.attention;
    MemoryReservation memory(budget);
    const std::size_t bytes = attention ? attention_json_size(std::span(&record, 1)) + 12 * t.text.size() : 0;
    if (attention) take_memory(memory, bytes);
    nlohmann::ordered_json body = {{"reply", t.text}, {"log_probability", t.log_probability}, {"model", model}};
    std::string out = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (attention && record.has_weights()) {
      out.pop_back();
      out.reserve(bytes);
      out += ",\"attention\":{";
      view::append_record(out, std::span(&record, 1), {.decimals = 4});
      out += "},\"attention_over_turns\":";
      nlohmann::json rows = nlohmann::json::array();
      const AttentionMatrix turns = attention_over_turns(record);
      for (std::int64_t r = 0; r < turns.rows; ++r) {
        auto& list = rows.emplace_back(nlohmann::json::array());
        for (std::int64_t n = 0; n < turns.columns; ++n) {
          list.push_back(std::round(static_cast<double>(turns.at(r, n)) * 1e4) / 1e4);
        }
      }
      out += rows.dump();
      out += '}';
    }
    return {.body = std::move(out), .memory = std::move(memory)};
  }
};

}  // namespace

void Api::chat(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const auto& model = static_cast<const ChatModel&>(call->models->find(Task::chat, fields.text("model")));
  const std::vector<std::string> turns = turns_of(fields);
  const auto work = std::make_shared<ChatWork>();
  work->model = model.name();
  work->attention = fields.flag("attention");
  if (work->attention && !model.attends()) {
    throw Refusal(400, fmt::format("the model {} has no attention to show", model.name()));
  }
  check_limit(turns.size(), options_.batch_limit);
  std::size_t bytes = 0;
  for (const std::string& turn : turns) {
    check_limit(characters(turn), options_.char_limit);
    bytes += turn.size();
  }
  charge(*call, 1);
  ChatJob& job = *work->job;
  job.how.beam = options_.beam;
  job.how.attention = work->attention;
  if (fields.flag("sample")) job.how.top_p = 0.9F;
  job.how = reply_options(job.how);
  read_model_options(fields, model, job.how, {"attention"});
  job.memory = MemoryReservation(options_.memory);
  hold_request(job, bytes, 1);
  job.lines = {model.line(turns)};
  job.canceled = [call] { return call->reply->gone(); };
  job.done = [this, call, work] { respond(call, [&] { return work->response(options_.memory); }); };
  submit(call, model, work->job);
}

}  // namespace fovea::server
