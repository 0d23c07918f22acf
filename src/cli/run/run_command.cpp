// fovea run --model DIR… [--beam N] [--length-penalty A] [--n-best N] [--sample] … < in > out
//
// One output line per input line (plain or gzip), in order; an empty line gives an empty line. --attention FILE writes
// which tokens attended to which, --kind whose attention, --all-heads each layer and head; --alignments FILE writes
// pairs; --intervene FILE changes the model while it runs; --scores puts the score and a tab before each output. An
// option that a model's task cannot use is refused by name.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/io/outputs.hpp"
#include "cli/options/storage.hpp"
#include "cli/run/run_options.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea::cli {
namespace {

// Options that change nothing without another one.
void check_dependencies(const RunOptions& o, const CLI::App& command) {
  for (const char* option : {"--layer", "--head"}) {
    if (o.models.size() > 1 && command.count(option) > 0) {
      throw UsageError(fmt::format("{}: it goes with one model, {} are given", option, o.models.size()));
    }
  }
  check_outputs_differ({{"--attention", &o.attention_file}, {"--alignments", &o.alignments_file}});
  const bool attention = !o.attention_file.empty();
  const bool any_attention = attention || !o.alignments_file.empty();
  const bool layer_counts = any_attention || o.how.replace_unknown || o.how.coverage_penalty != 0;
  const std::pair<const char*, bool> dependent[] = {{"--kind", attention},        {"--all-heads", attention},
                                                    {"--top-weights", attention}, {"--words", any_attention},
                                                    {"--layer", layer_counts},    {"--head", layer_counts}};
  for (const auto& [option, counts] : dependent) {
    if (command.count(option) > 0 && !counts) {
      throw UsageError(fmt::format("{}: it goes with --attention, the file to write to", option));
    }
  }
}

void run_model(const RunOptions& o, const CLI::App& command, const Streams& streams) {
  const ModelConfig first = read_model_config(o.models[0]);
  check_given_options(command, first.task());
  (void)o.kinds();
  check_dependencies(o, command);
  if (first.task() == Task::classify) return run_classifier(o, first, streams);
  run_writer(o, first, streams);
}

}  // namespace

void add_run(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("run", "read lines, write what the model makes of them");
  const auto o = std::make_shared<RunOptions>();
  sub->add_option("--model", o->models,
                  "the model folder; several write each output together, by the mean of their probabilities")
      ->required()
      ->allow_extra_args(false);
  add_generate_options(*sub, o->how, {"scores", "attention", "skip_unreadable"});
  sub->add_flag("--scores", o->scores, help_of("--scores"));
  sub->add_option("--top", o->top, help_of("--top"))->check(CLI::Range(1, 1 << 20));
  sub->add_flag("--strict", o->strict, help_of("--strict"));
  sub->add_option("--attention", o->attention_file, help_of("--attention"));
  sub->add_flag("--saliency", o->saliency, help_of("--saliency"));
  sub->add_option("--kind", o->kind, help_of("--kind"))->capture_default_str();
  sub->add_flag("--all-heads", o->all_heads, help_of("--all-heads"));
  sub->add_option("--intervene", o->intervene_file, help_of("--intervene"));
  sub->add_option("--alignments", o->alignments_file, help_of("--alignments"));
  add_type(*sub, o->load);
  sub->add_flag("--shortlist", o->load.shortlist, help_of("--shortlist"));
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, sub, streams] {
    if (o->threads != 0) set_threads(o->threads);
    o->kind_given = sub->count("--kind") > 0;
    run_model(*o, *sub, streams);
  });
}

}  // namespace fovea::cli
