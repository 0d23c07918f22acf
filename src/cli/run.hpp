// The command line as one function; what is needed to call it, and no more (CLI11 takes seconds to compile).
#pragma once

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

}  // namespace fovea::cli
