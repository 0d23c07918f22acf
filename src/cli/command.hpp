// What every subcommand file shares.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/run.hpp"

namespace fovea::cli {

// One per subcommand file: adds the subcommand, its options and its callback.
void add_attend(CLI::App& app, const Streams& streams);
void add_bench(CLI::App& app, const Streams& streams);
void add_chat(CLI::App& app, const Streams& streams);
void add_chart(CLI::App& app, const Streams& streams);
void add_compare(CLI::App& app, const Streams& streams);
void add_evaluate(CLI::App& app, const Streams& streams);
void add_explain(CLI::App& app, const Streams& streams);
void add_export(CLI::App& app, const Streams& streams);
void add_import(CLI::App& app, const Streams& streams);
void add_learn(CLI::App& app, const Streams& streams);
void add_probe(CLI::App& app, const Streams& streams);
void add_quantize(CLI::App& app, const Streams& streams);
void add_run(CLI::App& app, const Streams& streams);
void add_score(CLI::App& app, const Streams& streams);
void add_serve(CLI::App& app, const Streams& streams);
void add_shortlist(CLI::App& app, const Streams& streams);
void add_train(CLI::App& app, const Streams& streams);
void add_view(CLI::App& app, const Streams& streams);

}  // namespace fovea::cli
