#include <unistd.h>

#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>

#include "cli/run.hpp"
#include "fovea/processes.hpp"

namespace {

// If mpirun started several processes, only rank 0 prints. Another rank prints its error only if rank 0 does not fail
// too, because most mistakes are found by all ranks. A command that does not distribute its work runs on rank 0 only.
int run_as_one_of_many(const std::vector<std::string>& arguments, fovea::ProcessGroup& group) {
  if (arguments.empty() || (arguments[0] != "train" && arguments[0] != "score" && arguments[0] != "run")) return 0;
  std::istringstream nothing;
  std::ostringstream out;
  std::ostringstream err;
  const int code = fovea::cli::run(arguments, {nothing, out, err, false});
  if (code != 0) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    std::cerr << err.str() << std::flush;
    group.abort(code);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    fovea::ProcessGroup group;
    if (group.rank() > 0) return run_as_one_of_many(arguments, group);
    const int code = fovea::cli::run(arguments, {std::cin, std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1});
    if (code != 0) {
      std::cout << std::flush;
      group.abort(code);
    }
    return code;
  } catch (const std::exception& error) {
    std::cerr << "fovea: " << error.what() << '\n';
    return 1;
  }
}
