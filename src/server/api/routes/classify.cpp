// POST /classify: the label of a text, with the attention of its tokens.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "server/api/answer_memory.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/classifier_model.hpp"
#include "server/api/options.hpp"
#include "server/api/texts/texts.hpp"

namespace fovea::server {
namespace {

using Json = nlohmann::ordered_json;  // labels stay in their order, likeliest first

constexpr std::size_t kBytesOfNumber = 8;  // "0.1234,"

double rounded(float value) {
  return std::round(static_cast<double>(value) * 1e6) / 1e6;
}

Json numbers(const std::vector<float>& values) {
  Json list = Json::array();
  list.get_ref<Json::array_t&>().reserve(values.size());
  for (const float value : values) list.push_back(rounded(value));
  return list;
}

struct ClassifyWork {
  std::shared_ptr<ClassificationJob> job = std::make_shared<ClassificationJob>();
  std::string model;
  bool array = false;
  bool attention = false;
  bool saliency = false;
  std::size_t top = 0;  // labels shown; 0: all

  [[nodiscard]] Json one(const Classification& c) const {
    Json json = {{"label", c.label}, {"probability", rounded(c.probability)}};
    Json& probabilities = json["probabilities"] = Json::object();
    for (const auto& [label, probability] : c.ranked(top)) probabilities[label] = rounded(probability);
    json["tokens"] = c.tokens;
    if (attention) json["attention"] = numbers(c.attention);
    if (saliency) {
      Json& by_label = json["saliency"] = Json::object();
      for (const auto& [label, probability] : c.ranked(top)) {
        if (const auto found = c.saliency.find(label); found != c.saliency.end()) {
          by_label[label] = numbers(found->second);
        }
      }
    }
    json["model"] = model;
    return json;
  }

  [[nodiscard]] Response response(const std::shared_ptr<MemoryBudget>& budget) const {
    job->check();
    MemoryReservation memory(budget);
    std::size_t bytes = 0;
    for (const Classification& c : job->results) {
      bytes += (c.attention.size() + c.saliency.size() * c.tokens.size()) * kBytesOfNumber;
      for (const std::string& token : c.tokens) bytes += 3 + 6 * token.size();
      for (const auto& [label, probability] : c.probabilities) bytes += 3 * label.size() + 64;
    }
    take_memory(memory, 6 * bytes);  // as JSON values and as a growing string
    Json all = Json::array();
    for (const Classification& c : job->results) all.push_back(one(c));
    return {.body = (array ? all : all.at(0)).dump(-1, ' ', false, Json::error_handler_t::replace),
            .memory = std::move(memory)};
  }
};

}  // namespace

void Api::classify(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const Texts texts = Texts::read(fields);
  const auto& model = static_cast<const ClassifierModel&>(call->models->find(Task::classify, fields.text("model")));
  const auto work = std::make_shared<ClassifyWork>();
  work->model = model.name();
  work->array = texts.array;
  GenerateOptions none;
  read_options(fields, Task::classify, none, {"attention"});
  const int top = fields.number("top", 0);
  if (top < 0) throw Refusal(400, "Invalid request: top parameter must be a number of labels");
  work->top = static_cast<std::size_t>(top);
  work->attention = fields.flag("attention");
  if (work->attention && !model.attends()) {
    throw Refusal(400, fmt::format("the model {} has no attention to show", model.name()));
  }
  work->saliency = fields.flag("saliency");
  texts.check(options_.batch_limit, options_.char_limit);
  charge(*call, static_cast<int>(texts.list.size()));

  ClassificationJob& job = *work->job;
  job.memory = MemoryReservation(options_.memory);
  for (const std::string& text : texts.list) {
    model.check_length(text);
    hold_request(job, text.size(), 1 + model.labels().size() / 8);
  }
  job.how.saliency = work->saliency;
  if (top > 0) job.how.saliency_labels = std::min(top, job.how.saliency_labels);
  job.lines = texts.list;
  // The model reads a text as one line.
  for (std::string& line : job.lines)
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  job.canceled = [call] { return call->reply->gone(); };
  job.done = [this, call, work] { respond(call, [&] { return work->response(options_.memory); }); };
  submit(call, model, work->job);
}

}  // namespace fovea::server
