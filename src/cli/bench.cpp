// fovea bench gemm|attention|train|decode|math|rnn: measures, and prints one JSON object on the last line.
#include "cli/bench.hpp"

namespace fovea::cli {

void add_bench(CLI::App& app, const Streams& streams) {
  auto* bench = app.add_subcommand("bench", "measure this machine and Fovea on it");
  bench->require_subcommand(1);
  add_bench_attention(*bench, streams);
  add_bench_gemm(*bench, streams);
  add_bench_math(*bench, streams);
  add_bench_rnn(*bench, streams);
}

}  // namespace fovea::cli
