// The parts of `fovea bench`: each adds one subcommand that prints one JSON object on its last line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace fovea::cli {

void add_bench_attention(CLI::App& bench, const Streams& streams);
void add_bench_gemm(CLI::App& bench, const Streams& streams);
void add_bench_train(CLI::App& bench, const Streams& streams);
void add_bench_decode(CLI::App& bench, const Streams& streams);

/// What a register-only loop of multiply-adds reaches on all threads together.
[[nodiscard]] double measure_peak_gflops();

/// Seconds on the clock.
[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The shortest time of one call in nanoseconds, over batches that together take about `seconds`.
template <class Body>
double best_nanoseconds(double seconds, int calls, Body&& body) {
  using Clock = std::chrono::steady_clock;
  const auto time_of_batch = [&] {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) body();
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
  };
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double best = time_of_batch();
  do {
    best = std::min(best, time_of_batch());
  } while (Clock::now() < end);
  return best;
}

/// Of fovea bench train --task caption.
struct CaptionBench {
  std::string picture_encoder = "small", decoder = "rnn";
  bool freeze = false;
  int dim = 256;
  std::int64_t batch_tokens = 1500, micro_tokens = 750;
  double seconds = 4;
};
[[nodiscard]] nlohmann::json measure_captions(const CaptionBench& options);

}  // namespace fovea::cli
