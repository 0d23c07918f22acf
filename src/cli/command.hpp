// What every subcommand file shares.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace fovea::cli {

/// Where a command reads and writes; tests pass string streams.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;  // then progress is drawn as a bar
};

/// Runs the whole command line, without the program's name, and returns the exit code: 0, 1 for a failure, 2 for wrong
/// usage. Errors become one line on streams.err.
int run(const std::vector<std::string>& arguments, const Streams& streams);

// One per subcommand file: adds the subcommand, its options and its callback.
void add_attend(CLI::App& app, const Streams& streams);
void add_bench(CLI::App& app, const Streams& streams);
void add_chat(CLI::App& app, const Streams& streams);
void add_chart(CLI::App& app, const Streams& streams);
void add_compare(CLI::App& app, const Streams& streams);
void add_dates(CLI::App& app, const Streams& streams);
void add_evaluate(CLI::App& app, const Streams& streams);
void add_explain(CLI::App& app, const Streams& streams);
void add_export(CLI::App& app, const Streams& streams);
void add_import(CLI::App& app, const Streams& streams);
void add_probe(CLI::App& app, const Streams& streams);
void add_quantize(CLI::App& app, const Streams& streams);
void add_run(CLI::App& app, const Streams& streams);
void add_score(CLI::App& app, const Streams& streams);
void add_serve(CLI::App& app, const Streams& streams);
void add_shortlist(CLI::App& app, const Streams& streams);
void add_train(CLI::App& app, const Streams& streams);
void add_view(CLI::App& app, const Streams& streams);

/// The arguments with the options of a --config FILE added that they do not give themselves.
[[nodiscard]] std::vector<std::string> with_config(std::vector<std::string> arguments, const CLI::App& train);

}  // namespace fovea::cli
