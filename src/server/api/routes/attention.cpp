// POST /attention: every layer and head of the requested kinds, their mean, and the beam as a tree. POST /explain: the
// model's own numbers for a sentence, as a page.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fovea/error.hpp"
#include "server/api/answer_memory.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/translation_model.hpp"
#include "server/api/options.hpp"
#include "server/api/texts/detect.hpp"
#include "server/api/texts/limits.hpp"
#include "server/api/texts/passage.hpp"
#include "view/record/attention_json.hpp"
#include "view/record/numbers.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kMostBytes = 8000;         // of a text: every pair of tokens is a number per head
constexpr std::size_t kMostBytesListed = 64000;  // when only the largest weights of each query are sent
constexpr int kMostListed = 64;                  // largest weights of each query

// The beams of all sentences as one tree: each continues from the end of the previous sentence.
struct Trees {
  std::string nodes;
  std::vector<std::size_t> best;
  std::size_t count = 0;
  int step = 0;
  float log_probability = 0;

  // An upper bound of the JSON text of a tree.
  static std::size_t bytes(const GenerationTrace& trace) {
    constexpr std::size_t of_node = 128;  // names of fields, and numbers
    std::size_t bytes = of_node * trace.beam.nodes.size();
    for (const std::string& token : trace.beam_tokens) bytes += 6 * token.size();
    return bytes;
  }
  void add(const GenerationTrace& trace) {
    const auto& tree = trace.beam.nodes;
    if (tree.empty()) {  // a given output has no beam
      log_probability += trace.output.log_probability;
      return;
    }
    const bool first = count == 0;
    // The root of a later sentence is the chosen end of the previous one.
    const std::size_t root = first ? 0 : best.back();
    const std::size_t base = first ? 0 : count - 1;
    const auto id = [&](std::int32_t n) { return n == 0 ? root : base + static_cast<std::size_t>(n); };
    for (std::size_t n = first ? 0 : 1; n < tree.size(); ++n) {
      const auto& node = tree[n];
      if (count > 0) nodes += ',';
      fmt::format_to(std::back_inserter(nodes),
                     "{{\"id\":{},\"parent\":{},\"step\":{},\"token\":{},\"log_probability\":", count,
                     node.parent < 0 ? -1 : static_cast<std::int64_t>(id(node.parent)), step + node.step,
                     nlohmann::json(trace.beam_tokens[n]).dump());
      view::append_number(nodes, log_probability + node.log_probability, 4);
      nodes += node.finished ? ",\"finished\":true}" : ",\"finished\":false}";
      ++count;
    }
    for (std::size_t b = first ? 0 : 1; b < trace.beam.best.size(); ++b) best.push_back(id(trace.beam.best[b]));
    const auto& end = tree[static_cast<std::size_t>(trace.beam.best.back())];
    step += end.step;
    log_probability += end.log_probability;
  }
};

// Moves the records out of the job.
Response trace_response(TranslationJob& job, const Passage& passage, const std::string& model,
                        MemoryReservation memory) {
  std::size_t numbers = 0;
  AttentionJsonSize bytes;
  const std::size_t maps = job.traces[0].output.attention.maps.size();
  for (std::size_t m = 0; m <= maps; ++m) {
    bytes.start_matrix();
    for (const GenerationTrace& trace : job.traces) {
      const AttentionRecord& record = trace.output.attention;
      const bool listed = m == maps ? static_cast<bool>(record.largest) : static_cast<bool>(record.maps[m].largest);
      const auto& queries = m == maps ? record.target : record.maps[m].queries;
      const auto& keys = m == maps ? record.source : record.maps[m].keys;
      if (listed) {
        bytes.add_largest(queries, keys,
                          static_cast<std::size_t>(m == maps ? record.largest.count : record.maps[m].largest.count));
      } else {
        bytes.add(queries, keys);
      }
    }
    numbers += bytes.end_matrix();
  }
  check_numbers(numbers);
  std::size_t of_trees = 0;
  std::size_t of_texts = 0;  // in the whole text, and by sentence
  for (const GenerationTrace& trace : job.traces) {
    of_trees += Trees::bytes(trace);
    of_texts += 64 + 2 * 6 * trace.output.text.size();
  }
  const std::size_t most = bytes.total() + of_trees + of_texts;
  take_memory(memory, most + of_trees);
  // Allocated once: a growing string takes up to three times its size.
  std::string out;
  out.reserve(most);
  Trees trees;
  trees.nodes.reserve(of_trees);
  for (const GenerationTrace& trace : job.traces) trees.add(trace);
  const std::string text = passage.with([&](std::size_t i) -> const std::string& { return job.traces[i].output.text; });
  out += fmt::format("{{\"translatedText\":{},\"model\":{},\"log_probability\":", nlohmann::json(text).dump(),
                     nlohmann::json(model).dump());
  view::append_number(out, trees.log_probability, 4);
  out += ",\"sentences\":[";
  for (const GenerationTrace& trace : job.traces) {
    out += fmt::format("{}{{\"output\":{},\"source\":{},\"target\":{}}}", out.back() == '[' ? "" : ",",
                       nlohmann::json(trace.output.text).dump(), trace.output.attention.source.size(),
                       trace.output.attention.target.size());
  }
  out += "],\"beam\":{\"nodes\":[";
  out += std::exchange(trees.nodes, {});
  out += "],\"best\":";
  out += nlohmann::json(trees.best).dump();
  out += "},";
  std::vector<AttentionRecord> records;
  for (GenerationTrace& trace : job.traces) records.push_back(std::move(trace.output.attention));
  view::append_record(out, records, {.decimals = 4});
  out += '}';
  return {.body = std::move(out), .memory = std::move(memory)};
}

std::vector<AttentionKind> kinds_of(const Fields& fields) {
  const std::string name = fields.text("kind");
  if (name.empty()) return {AttentionKind::cross};
  std::vector<AttentionKind> kinds;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (name == "all" || name == info.name) kinds.push_back(info.kind);
  }
  if (kinds.empty()) {
    throw Refusal(400, fmt::format("Invalid request: kind parameter must be one of {}, all", attention_kind_names()));
  }
  return kinds;
}

// A JSON list, or the same as a string.
InterventionsFile interventions_of(const Fields& fields) {
  const auto& given = fields["interventions"];
  if (given.is_null() || (given.is_string() && given.get<std::string>().empty())) return {};
  try {
    return parse_interventions(given.is_string() ? given.get<std::string>() : given.dump(), "interventions");
  } catch (const Error& error) {
    throw Refusal(400, fmt::format("Invalid request: {}", error.what()));
  }
}

// The client's own translation of each sentence; a string for a single sentence. Empty: the model's.
std::vector<std::string> outputs_of(const Fields& fields, std::size_t sentences) {
  const auto& given = fields["output"];
  if (!given.is_array()) {
    const std::string text = fields.text("output");
    if (text.empty()) return {};
    if (sentences == 1) return {text};
  } else if (given.size() == sentences &&
             std::all_of(given.begin(), given.end(), [](const auto& one) { return one.is_string(); })) {
    return given.get<std::vector<std::string>>();
  }
  throw Refusal(400, fmt::format("Invalid request: output parameter must be a list of texts, one for each of the {} "
                                 "sentences",
                                 sentences));
}

int position(const Fields& fields, const char* name) {
  const int value = fields.number(name, 0);
  if (value < 0) throw Refusal(400, fmt::format("Invalid request: {} parameter must be at least 0", name));
  return value;
}

// The training step of the model, if one is given.
void set_checkpoint(TranslationJob& job, const Fields& fields, const TranslationModel& model) {
  if (fields["checkpoint"].is_null()) return;
  job.checkpoint = position(fields, "checkpoint");
  model.check_checkpoint(*job.checkpoint);
}

}  // namespace

void Api::explain(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const std::string q = fields.text("q");
  if (q.empty()) throw Refusal(400, "Invalid request: missing q parameter");
  std::string source = read_code(fields, "source");
  const std::string target = read_code(fields, "target");
  if (q.size() > kMostBytes) {
    throw Refusal(400, fmt::format("Invalid request: request ({}) exceeds text limit ({} bytes to explain)", q.size(),
                                   kMostBytes));
  }
  check_limit(characters(q), options_.char_limit);
  if (source == "auto") source = detect_language({q}, *call->models).language;
  const TranslationModel& model = model_for(*call->models, source, target);
  const Passage passage = Passage::of_text(q, model.reads());
  if (passage.lines().empty()) throw Refusal(400, "Invalid request: q parameter holds no text");
  const auto job = std::make_shared<TranslationJob>();
  view::ModelLessonOptions how;
  if (!fields.text("kind").empty()) how.kind = kinds_of(fields)[0];
  how.layer = position(fields, "layer");
  how.head = position(fields, "head");
  if (!fields["query"].is_null()) how.query = position(fields, "query");
  if (!fields["key"].is_null()) how.key = position(fields, "key");
  const std::string language = fields.text("language");
  if (!language.empty() && language != "en" && language != "zh") {
    throw Refusal(400, "Invalid request: language parameter must be en or zh");
  }
  how.language = language.empty() ? view::language_of(q) : view::lesson_language(language);
  job->explain = how;
  job->interventions = interventions_of(fields);
  set_checkpoint(*job, fields, model);
  job->memory = MemoryReservation(options_.memory);
  job->canceled = [call] { return call->reply->gone(); };
  const auto sentence = static_cast<std::size_t>(position(fields, "sentence"));
  if (sentence >= passage.lines().size()) {
    throw Refusal(400, fmt::format("Invalid request: sentence parameter: the text has {}, counted from 0",
                                   passage.lines().size()));
  }
  job->lines = {passage.lines()[sentence]};  // one at a time
  job->first_line = static_cast<std::int64_t>(sentence) + 1;
  job->how.beam = std::min(options_.beam, kWidestBeam);
  read_model_options(fields, model, job->how, {"attention", "interventions", "layer", "head"});
  const std::string format = fields.text("format");
  if (!format.empty() && format != "json" && format != "html") {
    throw Refusal(400, "Invalid request: format parameter must be json or html");
  }
  job->as_page = format == "html";
  job->done = [this, call, job = job.get(), name = model.name()] {
    respond(call, [&]() -> Response {
      job->check();
      MemoryReservation memory(options_.memory);
      take_memory(memory, 2 * job->lesson.size());
      // The page's scripts and styles are inside it; nothing else may run or be fetched.
      if (job->as_page) {
        return {200,
                std::move(job->lesson),
                "text/html; charset=utf-8",
                {{"Content-Security-Policy",
                  "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
                  "script-src 'unsafe-inline'; img-src data: blob:"}},
                std::move(memory)};
      }
      return {.body = fmt::format("{{\"lesson\":{},\"model\":{}}}", job->lesson, nlohmann::json(name).dump()),
              .memory = std::move(memory)};
    });
  };
  submit(call, model, job);
}

void Api::attention(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const std::string q = fields.text("q");
  if (q.empty()) throw Refusal(400, "Invalid request: missing q parameter");
  std::string source = read_code(fields, "source");
  const std::string target = read_code(fields, "target");
  const int top = fields.number("top", 0);
  if (top < 0 || top > kMostListed) {
    throw Refusal(400, fmt::format("Invalid request: top parameter must be 0 (all weights) to {}", kMostListed));
  }
  if (const std::size_t most = top > 0 ? kMostBytesListed : kMostBytes; q.size() > most) {
    throw Refusal(
        400, fmt::format("Invalid request: request ({}) exceeds text limit ({} bytes for attention)", q.size(), most));
  }
  check_limit(characters(q), options_.char_limit);
  if (source == "auto") source = detect_language({q}, *call->models).language;
  const TranslationModel& model = model_for(*call->models, source, target);
  const auto passage = std::make_shared<Passage>(Passage::of_text(q, model.reads()));
  if (passage->lines().empty()) throw Refusal(400, "Invalid request: q parameter holds no text");
  const auto job = std::make_shared<TranslationJob>();
  job->trace = true;
  job->memory = MemoryReservation(options_.memory);
  job->canceled = [call] { return call->reply->gone(); };
  job->lines = passage->lines();
  job->how.beam = std::min(options_.beam, kWidestBeam);
  read_model_options(fields, model, job->how, {"attention", "interventions"});
  if (top > 0) job->how.top_weights = top;
  job->outputs = outputs_of(fields, passage->lines().size());
  if (top > 0 && (job->how.merge_words || !job->outputs.empty())) {
    throw Refusal(400, "Invalid request: top parameter goes with neither merge_words nor output");
  }
  job->how.kinds = kinds_of(fields);
  job->interventions = interventions_of(fields);
  set_checkpoint(*job, fields, model);
  // May be megabytes of numbers: written by a thread of the model, not by the connection thread.
  job->done = [this, call, job = job.get(), passage, name = model.name()] {
    respond(call, [&]() -> Response {
      job->check();
      return trace_response(*job, *passage, name, MemoryReservation(options_.memory));
    });
  };
  submit(call, model, job);
}

}  // namespace fovea::server
