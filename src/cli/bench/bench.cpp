// fovea bench gemm|attention|train|decode: measures, and prints one JSON object on the last line.
#include "cli/bench/bench.hpp"

#include <atomic>

#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"

namespace fovea::cli {

void add_bench(CLI::App& app, const Streams& streams) {
  auto* bench = app.add_subcommand("bench", "measure this machine and Fovea on it");
  bench->require_subcommand(1);
  add_bench_attention(*bench, streams);
  add_bench_decode(*bench, streams);
  add_bench_gemm(*bench, streams);
  add_bench_train(*bench, streams);
}

double measure_peak_gflops() {
  const auto peak = kernels::active().gemm->peak;
  constexpr std::int64_t kRounds = 500'000;
  std::atomic<double> operations{0};
  const double nanoseconds = best_nanoseconds(0, 1, [&] {
    operations = 0;
    parallel_for(threads(), 1, [&](std::int64_t, std::int64_t) { operations += peak(kRounds); });
  });
  return operations / nanoseconds;
}

}  // namespace fovea::cli
