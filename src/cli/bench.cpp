// fovea bench gemm|attention|train|decode: measures, and prints one JSON object on the last line.
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.hpp"

namespace fovea::cli {

void add_bench(CLI::App& app, const Streams& streams) {
  auto* bench = app.add_subcommand("bench", "measure this machine and Fovea on it");
  bench->require_subcommand(1);
  (void)streams;
}

}  // namespace fovea::cli
