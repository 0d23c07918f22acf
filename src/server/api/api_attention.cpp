// POST /attention: every layer and head, their mean, and the beam as a tree.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/detect.hpp"
#include "server/api/joined.hpp"
#include "server/api/numbers.hpp"
#include "server/api/passage.hpp"
#include "server/http/limits.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kMostBytes = 8000;  // every pair of tokens is a number per head

// The sentences' trees as one: each goes on from the end of the sentence before.
struct Trees {
  std::string nodes;
  std::vector<std::size_t> best;
  std::size_t count = 0;
  int step = 0;
  float log_probability = 0;

  void add(const Look& look) {
    const auto& tree = look.beam.nodes;
    const bool first = count == 0;
    // A later sentence's root is the end that was chosen before it.
    const std::size_t root = first ? 0 : best.back();
    const std::size_t base = first ? 0 : count - 1;
    const auto id = [&](std::int32_t n) { return n == 0 ? root : base + static_cast<std::size_t>(n); };
    for (std::size_t n = first ? 0 : 1; n < tree.size(); ++n) {
      const auto& node = tree[n];
      if (count > 0) nodes += ',';
      fmt::format_to(std::back_inserter(nodes),
                     "{{\"id\":{},\"parent\":{},\"step\":{},\"token\":{},\"log_probability\":", count,
                     node.parent < 0 ? -1 : static_cast<std::int64_t>(id(node.parent)), step + node.step,
                     nlohmann::json(look.beam_tokens[n]).dump());
      append_rounded(nodes, log_probability + node.log_probability);
      nodes += node.finished ? ",\"finished\":true}" : ",\"finished\":false}";
      ++count;
    }
    for (std::size_t b = first ? 0 : 1; b < look.beam.best.size(); ++b) best.push_back(id(look.beam.best[b]));
    const auto& end = tree[static_cast<std::size_t>(look.beam.best.back())];
    step += end.step;
    log_probability += end.log_probability;
  }
};

std::string look_json(const Job& job, const Passage& passage, const std::string& model, Lease& memory) {
  Joined joined;
  Trees trees;
  const auto layers = static_cast<std::size_t>(job.looks[0].layers);
  const auto heads = static_cast<std::size_t>(job.looks[0].heads);
  for (const Look& look : job.looks) joined.add(look.translation);
  check_numbers(joined.numbers() * (layers * heads + 1));
  const std::size_t bytes = joined.text_bytes(layers * heads + 1);
  take_memory(memory, bytes);
  for (const Look& look : job.looks) trees.add(look);
  take_memory(memory, 2 * trees.nodes.size());
  const std::string text =
      passage.with([&](std::size_t i) -> const std::string& { return job.looks[i].translation.text; });
  std::string out;
  out.reserve(bytes + trees.nodes.size());
  out += fmt::format("{{\"translatedText\":{},\"model\":{},\"log_probability\":", nlohmann::json(text).dump(),
                     nlohmann::json(model).dump());
  append_rounded(out, trees.log_probability);
  out += fmt::format(",\"source\":{},\"target\":{},\"layers\":{},\"heads\":{},\"weights\":[",
                     nlohmann::json(joined.source).dump(), nlohmann::json(joined.target).dump(), layers, heads);
  for (std::size_t l = 0; l < layers; ++l) {
    out += l == 0 ? "[" : ",[";
    for (std::size_t h = 0; h < heads; ++h) {
      if (h > 0) out += ',';
      joined.append(out, [&](std::size_t s) -> const Matrix& { return job.looks[s].weights[l * heads + h]; });
    }
    out += ']';
  }
  out += "],\"mean\":";
  joined.append_mean(out);
  out += ",\"beam\":{\"nodes\":[";
  out += trees.nodes;
  out += fmt::format("],\"best\":{}}}}}", nlohmann::json(trees.best).dump());
  return out;
}

}  // namespace

void Api::attention(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const std::string q = fields.text("q");
  if (q.empty()) throw Refusal(400, "Invalid request: missing q parameter");
  std::string source = read_code(fields, "source");
  const std::string target = read_code(fields, "target");
  if (q.size() > kMostBytes) {
    throw Refusal(400, fmt::format("Invalid request: request ({}) exceeds text limit ({} bytes for attention)",
                                   q.size(), kMostBytes));
  }
  check_limit(characters(q), options_.char_limit);
  const int beam = fields.number("beam", std::min(options_.beam, kWidestBeam));
  if (beam < 1 || beam > kWidestBeam) {
    throw Refusal(400, fmt::format("Invalid request: beam parameter must be 1 to {}", kWidestBeam));
  }
  if (source == "auto") source = detect_language({q}, *call->models).language;
  const Model& model = model_for(*call->models, source, target);
  const auto passage = std::make_shared<Passage>(Passage::of_text(q, model.reads()));
  if (passage->lines().empty()) throw Refusal(400, "Invalid request: q parameter holds no text");
  const auto job = std::make_shared<Job>();
  job->look = true;
  job->memory = Lease(options_.memory);
  job->unwanted = [call] { return call->reply->gone(); };
  job->lines = passage->lines();
  job->how.search.beam = beam;
  job->how.merge_words = fields.flag("merge_words");
  // Megabytes of numbers at times: written here, where nobody else waits for it.
  job->done = [this, call, job = job.get(), passage, name = model.name] {
    respond(call, [&]() -> Response {
      job->check();
      Lease memory(options_.memory);
      return {200, look_json(*job, *passage, name, memory)};
    });
  };
  submit(call, model, job);
}

}  // namespace fovea::server
