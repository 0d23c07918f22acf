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
};

/// Runs the whole command line, without the program's name, and returns the exit code: 0, 1 for a failure, 2 for wrong
/// usage. Errors become one line on streams.err.
int run(const std::vector<std::string>& arguments, const Streams& streams);

// One per subcommand file: adds the subcommand, its options and its callback.
void add_bench(CLI::App& app, const Streams& streams);
void add_dates(CLI::App& app, const Streams& streams);
void add_evaluate(CLI::App& app, const Streams& streams);
void add_explain(CLI::App& app, const Streams& streams);
void add_view(CLI::App& app, const Streams& streams);

}  // namespace fovea::cli
