// bench_rnn [--batch B] [--steps T] [--units H] [--threads N] [--seconds S]: recurrent networks, forward and backward.
//   → threads, peak_gflops, networks: [{"network","forward_ms","backward_ms","gflops","fraction"}]; the products that
//   the formulas need are counted (those with a first state of zeros are not), and the gates' arithmetic is not
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using cli::best_nanoseconds;

struct RnnBench {
  std::int64_t batch = 280;
  std::int64_t steps = 15;
  std::int64_t units = 256;
  int threads = fovea::threads();
  double seconds = 1;
};

Tensor random_values(const Shape& shape, Rng& rng) {
  Tensor t = Tensor::empty(shape);
  for (float& v : t.values()) v = static_cast<float>(0.2 * rng.uniform() - 0.1);
  return t;
}

GruWeights gru_weights(std::int64_t in, std::int64_t h, Rng& rng) {
  return {Var::parameter(random_values({in, 3 * h}, rng)), Var::parameter(random_values({h, 3 * h}, rng)),
          Var::parameter(random_values({3 * h}, rng)), Var::parameter(random_values({h}, rng))};
}

LstmWeights lstm_weights(std::int64_t in, std::int64_t h, Rng& rng) {
  return {Var::parameter(random_values({in, 4 * h}, rng)), Var::parameter(random_values({h, 4 * h}, rng)),
          Var::parameter(random_values({4 * h}, rng))};
}

template <class Network>
nlohmann::json measure(const RnnBench& how, const char* name, std::int64_t gates, std::int64_t directions, double peak,
                       const Network& network) {
  Rng rng(1);
  const Var x = Var::parameter(random_values({how.batch, how.steps, how.units}, rng));
  const Tensor dy = random_values({how.batch, how.steps, directions * how.units}, rng);
  double forward = 1e300;
  double both = 1e300;
  best_nanoseconds(how.seconds, 1, [&] {
    const auto begin = std::chrono::steady_clock::now();
    const Recurrent run = network(x);
    const auto middle = std::chrono::steady_clock::now();
    backward(run.states, dy);
    const auto end = std::chrono::steady_clock::now();
    forward = std::min(forward, std::chrono::duration<double, std::nano>(middle - begin).count());
    both = std::min(both, std::chrono::duration<double, std::nano>(end - begin).count());
    x.zero_grad();
  });
  const auto h = static_cast<double>(how.units);
  const auto rows = static_cast<double>(how.batch * how.steps);
  const double per_row = 2 * h * static_cast<double>(gates) * h;
  const double work = static_cast<double>(directions) * (rows + rows - static_cast<double>(how.batch)) * per_row * 3;
  return {{"network", name},
          {"forward_ms", forward / 1e6},
          {"backward_ms", (both - forward) / 1e6},
          {"gflops", work / both},
          {"forward_fraction", work / 3 / forward / peak},
          {"fraction", work / both / peak}};
}

}  // namespace
}  // namespace fovea

int main(int count, char** arguments) {
  using namespace fovea;
  CLI::App app("recurrent networks, forward and backward");
  RnnBench how;
  app.add_option("--batch", how.batch, "sequences")->check(CLI::Range(1, 1 << 20));
  app.add_option("--steps", how.steps, "steps of each")->check(CLI::Range(1, 1 << 20));
  app.add_option("--units", how.units, "units, and width of the input")->check(CLI::Range(1, 1 << 14));
  app.add_option("--threads", how.threads, "threads");
  app.add_option("--seconds", how.seconds, "time per network")->check(CLI::Range(0.01, 60.0));
  CLI11_PARSE(app, count, arguments);
  set_threads(how.threads);
  const double peak = cli::measure_peak_gflops();
  Rng rng(2);
  const std::int64_t h = how.units;
  const GruWeights gf = gru_weights(h, h, rng);
  const GruWeights gb = gru_weights(h, h, rng);
  const LstmWeights l = lstm_weights(h, h, rng);
  nlohmann::json networks = nlohmann::json::array();
  networks.push_back(
      measure(how, "bidirectional gru", 3, 2, peak, [&](const Var& x) { return bidirectional_gru(x, gf, gb); }));
  networks.push_back(measure(how, "lstm", 4, 1, peak, [&](const Var& x) { return lstm(x, l); }));
  std::cout << nlohmann::json{{"threads", how.threads}, {"peak_gflops", peak}, {"networks", networks}} << '\n';
  return 0;
}
