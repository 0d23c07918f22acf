// POST /translate: LibreTranslate's, and with "attention": true the weights beside the text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/detect.hpp"
#include "server/api/numbers.hpp"
#include "server/api/passage.hpp"
#include "server/http/limits.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

// \r\n and \r as \n: browsers send forms with the former.
std::string unix_lines(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') continue;
      out += '\n';
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Texts {
  std::vector<std::string> list;
  bool array = false;
};

Texts read_q(const Fields& fields) {
  const nlohmann::json& q = fields["q"];
  const bool missing =
      q.is_null() || (q.is_string() && q.get_ref<const std::string&>().empty()) || (q.is_array() && q.empty());
  if (missing) throw Refusal(400, "Invalid request: missing q parameter");
  Texts texts;
  if (q.is_string()) {
    texts.list.push_back(fields.json() ? q.get<std::string>() : unix_lines(q.get<std::string>()));
    return texts;
  }
  texts.array = q.is_array();
  const bool strings = q.is_array() && std::all_of(q.begin(), q.end(), [](const auto& e) { return e.is_string(); });
  if (!strings) throw Refusal(400, "Invalid request: q parameter is not a string or an array of strings");
  for (const auto& e : q) texts.list.push_back(e.get<std::string>());
  return texts;
}

// Everything between the question and its answer.
struct Work {
  std::vector<Passage> passages;  // one per text
  std::shared_ptr<Job> job = std::make_shared<Job>();
  int alternatives = 0;
  bool array = false;
  bool attention = false;
  std::optional<Detection> detected;

  // Texts of the k-th best outputs, each.
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

  [[nodiscard]] std::string attention_json() const {
    std::string out;
    std::size_t first = 0;
    std::size_t numbers = 0;
    for (const Passage& passage : passages) {
      std::size_t rows = 0;
      std::size_t columns = 0;
      for (std::size_t i = 0; i < passage.lines().size(); ++i) {
        rows += job->translations[first + i][0].target_tokens.size();
        columns += job->translations[first + i][0].source_tokens.size();
      }
      numbers += rows * columns;
      check_numbers(numbers);
      AttentionRecord record;
      for (std::size_t i = 0; i < passage.lines().size(); ++i) {
        append_record(record, job->translations[first + i][0].record());
      }
      first += passage.lines().size();
      out += (out.empty() ? "" : ",") + to_json(record, {.decimals = 4});
    }
    return array ? "[" + out + "]" : out;
  }

  [[nodiscard]] Response response() const {
    if (!job->error.empty()) throw Refusal(500, "Cannot translate text: " + job->error);
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
    if (attention) {
      body.pop_back();
      body += ",\"attention\":" + attention_json() + "}";
    }
    return {200, std::move(body)};
  }
};

}  // namespace

void Api::translate(const Shared& call) {
  const Fields fields(*call->request);
  const Texts texts = read_q(fields);
  std::string source = fields.text("source");
  const std::string target = fields.text("target");
  if (source.empty()) throw Refusal(400, "Invalid request: missing source parameter");
  if (target.empty()) throw Refusal(400, "Invalid request: missing target parameter");
  const auto work = std::make_shared<Work>();
  work->alternatives = std::max(0, fields.number("alternatives", 0));
  if (work->alternatives > options_.alternatives_limit) {
    throw Refusal(400,
                  fmt::format("Invalid request: alternatives parameter must be <= {}", options_.alternatives_limit));
  }
  work->array = texts.array;
  if (texts.array) check_limit(texts.list.size(), options_.batch_limit);
  for (const std::string& text : texts.list) check_limit(characters(text), options_.char_limit);
  check_access(*call, fields, static_cast<int>(texts.list.size()));

  if (source == "auto") {
    work->detected = detect_language(texts.list, *call->models);
    source = work->detected->language;
  }
  const Model& model = model_for(*call->models, source, target);
  const std::string format = fields.text("format");
  if (!format.empty() && format != "text" && format != "html") {
    throw Refusal(400, fmt::format("{} format is not supported", format));
  }
  work->attention = fields.flag("attention");
  if (work->attention && model.layers() == 0) {
    throw Refusal(400, fmt::format("the model {} has no attention to show", model.name));
  }

  Job& job = *work->job;
  for (const std::string& text : texts.list) {
    work->passages.push_back(format == "html" ? Passage::of_html(text, model.longest)
                                              : Passage::of_text(text, model.longest));
    const auto& lines = work->passages.back().lines();
    job.lines.insert(job.lines.end(), lines.begin(), lines.end());
  }
  job.how.beam = std::max(options_.beam, work->alternatives + 1);
  job.how.n_best = work->alternatives + 1;
  job.how.attention = work->attention;
  job.how.merge_words = fields.flag("merge_words");
  const auto answer = [this, call, work] {
    if (work->attention) {  // perhaps megabytes of numbers: written here, where nobody else waits for it
      respond(call, [&work] { return work->response(); });
    } else {
      call->answer(metrics_, [work] { return work->response(); });
    }
  };
  if (job.lines.empty()) return answer();
  job.done = answer;
  submit(call, model, work->job);
}

void Api::detect(const Shared& call) {
  const Fields fields(*call->request);
  const Texts texts = read_q(fields);
  if (texts.array) check_limit(texts.list.size(), options_.batch_limit);
  for (const std::string& text : texts.list) check_limit(characters(text), options_.char_limit);
  check_access(*call, fields, 1);
  const Detection found = detect_language(texts.list, *call->models);
  const nlohmann::json json = {{{"language", found.language}, {"confidence", found.confidence}}};
  finish(call, {200, json.dump()});
}

}  // namespace fovea::server
