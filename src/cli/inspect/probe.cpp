// fovea probe --model DIR SENTENCE [--target TEXT] [--heads] [--edges] [--top N] [--json FILE]
//
// Removes every head and every edge of a model in turn (ablation) and ranks them by the change of the output's
// log-probability; and measures how faithful attention, attention rollout and gradient times input are.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/io/progress.hpp"
#include "cli/options/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "fovea/threads.hpp"
#include "view/text.hpp"

namespace fovea::cli {
namespace {

struct ProbeCommand {
  std::string model, sentence, target, json;
  bool heads = false, edges = false, faithful = false;
  int top = 20;
  int beam = 5;
  int threads = 0;
};

std::string name_of(const Removal& removal) {
  const AttentionEdit& e = removal.edit;
  const std::string_view kind = fovea::name_of(*e.kind);
  if (e.what == AttentionEdit::What::silence) return fmt::format("{} layer {} head {}", kind, *e.layer, *e.head);
  return fmt::format("{} edge {} → {} ({}, {})", kind, view::clean(removal.query), view::clean(removal.key), *e.query,
                     *e.key);
}

nlohmann::ordered_json json_of(const Removal& removal) {
  const AttentionEdit& e = removal.edit;
  nlohmann::ordered_json out;
  out["kind"] = fovea::name_of(*e.kind);
  if (e.layer) out["layer"] = *e.layer;
  if (e.head) out["head"] = *e.head;
  if (e.query) {
    out["query"] = *e.query;
    out["key"] = *e.key;
    out["tokens"] = {view::clean(removal.query), view::clean(removal.key)};
  }
  out["change"] = removal.change;
  return out;
}

void probe(const ProbeCommand& o, const Streams& streams) {
  if (o.threads != 0) set_threads(o.threads);
  const Translator translator(std::filesystem::path(o.model));
  const Inspector inspector(translator);
  const bool all = !o.heads && !o.edges && !o.faithful;
  ProbeOptions how;
  how.decoding.beam = o.beam;
  how.target = o.target;
  how.heads = all || o.heads;
  how.edges = all || o.edges;
  ProgressBar bar(streams.err, streams.err_is_terminal);
  const auto start = std::chrono::steady_clock::now();
  const Probe found = inspector.probe(o.sentence, how, [&](std::int64_t done, std::int64_t count) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    bar.show(static_cast<double>(done) / static_cast<double>(count), seconds.count(),
             fmt::format("{} of {} parts removed", done, count));
  });
  std::vector<Explanation> explanations;
  if (all || o.faithful) explanations = inspector.explanations(o.sentence, how.decoding);
  bar.clear();

  nlohmann::ordered_json json;
  json["output"] = view::clean(found.output);
  json["log_probability"] = found.log_probability;
  json["removals"] = nlohmann::json::array();
  for (const Removal& removal : found.removals) json["removals"].push_back(json_of(removal));
  json["explanations"] = nlohmann::json::array();
  for (const Explanation& one : explanations) {
    nlohmann::ordered_json row{{"method", one.method}, {"deletion", one.deletion}};
    row["weights"] = nlohmann::json::array();
    for (std::int64_t r = 0; r < one.weights.rows; ++r) {
      const auto begin = one.weights.values.begin() + r * one.weights.columns;
      row["weights"].push_back(std::vector<float>(begin, begin + one.weights.columns));
    }
    json["explanations"].push_back(std::move(row));
  }
  if (!o.json.empty()) write_whole_file(o.json, json.dump(1) + "\n");

  streams.out << fmt::format("{}\nlog-probability {:.4f}\n", view::clean(found.output), found.log_probability);
  if (!found.removals.empty()) {
    const std::size_t shown = std::min(found.removals.size(), static_cast<std::size_t>(o.top));
    streams.out << fmt::format("\n  change  removed (the {} of {} with the largest change)\n", shown,
                               found.removals.size());
    for (std::size_t i = 0; i < shown; ++i) {
      streams.out << fmt::format("{:8.4f}  {}\n", found.removals[i].change, name_of(found.removals[i]));
    }
  }
  if (!explanations.empty()) {
    streams.out
        << "\ndeletion  explanation (loss of log-probability per token when the tokens it ranks first are removed)\n";
    for (const Explanation& one : explanations) {
      streams.out << fmt::format("{:8.4f}  {}\n", one.deletion,
                                 one.method == "gradient" ? "gradient times input"
                                 : one.method == "random" ? "random tokens, as a baseline"
                                                          : one.method);
    }
  }
}

}  // namespace

void add_probe(CLI::App& app, const Streams& streams) {
  auto o = std::make_shared<ProbeCommand>();
  auto* sub = app.add_subcommand(
      "probe", "rank heads and edges by the effect of their removal on the output's probability (ablation)");
  sub->add_option("--model", o->model, "model folder")->required();
  sub->add_option("SENTENCE", o->sentence, "the line that the model reads")->required();
  sub->add_option("--target", o->target, "output to explain instead of the model's own")->type_name("SENTENCE");
  sub->add_flag("--heads", o->heads, "heads only");
  sub->add_flag("--edges", o->edges, "edges only; each is removed in all layers and heads of its kind");
  sub->add_flag("--faithful", o->faithful,
                "faithfulness of the explanations only; combine these flags for several parts");
  sub->add_option("--top", o->top, "lines to show")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  sub->add_option("--beam", o->beam, "beam of the search for the output; 1: greedy")->capture_default_str();
  sub->add_option("--json", o->json, "file for all changes and explanations, JSON");
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, &streams] { probe(*o, streams); });
}

}  // namespace fovea::cli
