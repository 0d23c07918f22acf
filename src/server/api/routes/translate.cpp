// POST /translate: as LibreTranslate, and with "attention": true also the weights.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/api/answer_memory.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/translation_model.hpp"
#include "server/api/options.hpp"
#include "server/api/texts/detect.hpp"
#include "server/api/texts/limits.hpp"
#include "server/api/texts/passage.hpp"
#include "server/api/texts/texts.hpp"
#include "view/record/attention_json.hpp"

namespace fovea::server {
namespace {

// A request while it is handled.
struct Work {
  std::vector<Passage> passages;  // one per text
  std::shared_ptr<TranslationJob> job = std::make_shared<TranslationJob>();
  int alternatives = 0;
  bool array = false;
  bool attention = false;
  std::optional<Detection> detected;

  // The k-th best output of each text.
  [[nodiscard]] std::vector<std::string> outputs(std::size_t k) const {
    std::vector<std::string> out;
    std::size_t first = 0;
    for (const Passage& passage : passages) {
      out.push_back(passage.with([&](std::size_t line) -> const std::string& {
        const auto& best = job->translations[first + line];
        return best[std::min(k, best.size() - 1)].text;
      }));
      first += passage.lines().size();
    }
    return out;
  }

  // The records of each text, taken out of the job. A text without sentences has an empty one.
  [[nodiscard]] std::vector<std::vector<AttentionRecord>> take_records() const {
    std::vector<std::vector<AttentionRecord>> records(passages.size());
    std::size_t line = 0;
    for (std::size_t p = 0; p < passages.size(); ++p) {
      for (std::size_t i = 0; i < passages[p].lines().size(); ++i) {
        records[p].push_back(std::move(job->translations[line++][0].attention));
      }
      if (records[p].empty()) records[p].emplace_back();
    }
    return records;
  }

  // Appends the attention; reserves `memory` for the text.
  void append_attention(std::string& out, MemoryReservation& memory) const {
    const auto records = take_records();
    std::size_t numbers = 0;
    std::size_t bytes = out.size();
    for (const std::vector<AttentionRecord>& sentences : records) {
      std::size_t rows = 0;
      std::size_t columns = 0;
      for (const AttentionRecord& one : sentences) {
        rows += one.target.size();
        columns += one.source.size();
      }
      numbers += rows * columns;
      bytes += attention_json_size(sentences);
    }
    check_numbers(numbers);
    take_memory(memory, bytes);
    out.reserve(bytes);
    if (array) out += '[';
    for (const std::vector<AttentionRecord>& sentences : records) {
      out += &sentences == records.data() ? "{" : ",{";
      view::append_record(out, sentences, {.decimals = 4});
      out += '}';
    }
    if (array) out += ']';
  }

  [[nodiscard]] Response response(const std::shared_ptr<MemoryBudget>& budget) const {
    job->check();
    const auto one_or_all = [this](nlohmann::json all) { return array ? all : all.at(0); };
    const auto best = outputs(0);
    nlohmann::json json = {{"translatedText", one_or_all(best)}};
    if (detected) {
      const nlohmann::json d = {{"language", detected->language}, {"confidence", detected->confidence}};
      json["detectedLanguage"] = one_or_all(nlohmann::json(passages.size(), d));
    }
    if (alternatives > 0) {
      std::vector<std::vector<std::string>> others(passages.size());
      for (int k = 1; k <= alternatives; ++k) {
        const auto next = outputs(static_cast<std::size_t>(k));
        for (std::size_t i = 0; i < next.size(); ++i) {
          auto& list = others[i];
          if (next[i] != best[i] && std::find(list.begin(), list.end(), next[i]) == list.end()) list.push_back(next[i]);
        }
      }
      json["alternatives"] = one_or_all(others);
    }
    std::string body = json.dump();
    MemoryReservation memory(budget);
    if (attention) {
      body.pop_back();
      body += ",\"attention\":";
      append_attention(body, memory);
      body += '}';
    }
    return {.body = std::move(body), .memory = std::move(memory)};
  }
};

}  // namespace

void Api::translate(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const Texts texts = Texts::read(fields);
  std::string source = read_code(fields, "source");
  const std::string target = read_code(fields, "target");
  const auto work = std::make_shared<Work>();
  work->alternatives = std::max(0, fields.number("alternatives", 0));
  if (work->alternatives > options_.alternatives_limit) {
    throw Refusal(400,
                  fmt::format("Invalid request: alternatives parameter must be <= {}", options_.alternatives_limit));
  }
  work->array = texts.array;
  texts.check(options_.batch_limit, options_.char_limit);
  charge(*call, static_cast<int>(texts.list.size()));

  if (source == "auto") {
    work->detected = detect_language(texts.list, *call->models);
    source = work->detected->language;
  }
  const TranslationModel& model = model_for(*call->models, source, target);
  const std::string format = fields.text("format");
  if (!format.empty() && format != "text" && format != "html") {
    throw Refusal(400, fmt::format("{} format is not supported", format));
  }
  work->attention = fields.flag("attention");
  if (work->attention && model.layers() == 0) {
    throw Refusal(400, fmt::format("the model {} has no attention to show", model.name()));
  }

  TranslationJob& job = *work->job;
  job.memory = MemoryReservation(options_.memory);
  for (const std::string& text : texts.list) {
    work->passages.push_back(format == "html" ? Passage::of_html(text, model.reads())
                                              : Passage::of_text(text, model.reads()));
    const auto& lines = work->passages.back().lines();
    job.lines.insert(job.lines.end(), lines.begin(), lines.end());
    hold_request(job, text.size(), lines.size() * static_cast<std::size_t>(work->alternatives + 1));
  }
  job.how.beam = std::max(options_.beam, work->alternatives + 1);
  job.how.attention = work->attention;
  job.how.n_best = work->alternatives + 1;
  read_model_options(fields, model, job.how, {"attention"});
  // May be megabytes: written by a thread of the model, not by the connection thread.
  const auto answer = [this, call, work] { respond(call, [&] { return work->response(options_.memory); }); };
  if (job.lines.empty()) return answer();
  job.canceled = [call] { return call->reply->gone(); };
  job.done = answer;
  submit(call, model, work->job);
}

void Api::detect(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const Texts texts = Texts::read(fields);
  texts.check(options_.batch_limit, options_.char_limit);
  const Detection found = detect_language(texts.list, *call->models);
  const nlohmann::json json = {{{"language", found.language}, {"confidence", found.confidence}}};
  finish(call, {200, json.dump()});
}

}  // namespace fovea::server
