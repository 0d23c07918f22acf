// fovea bench gemm [--threads T] [--precision P] [--seconds S]: matrix products, as a fraction of a register-only
// loop's peak.
//   → kernels, threads, peak_gflops, shapes: [{"m","n","k","trans","packed","gflops","fraction"}], and with several
//   threads scaling: how many times one thread's speed they reach on 2048x1024x256; linear_cross_entropy: a step
//   forward and backward of 4,096 rows of width 128 on a vocabulary of 10,000 (three products counted), extra_mb what
//   it takes beyond inputs and gradients
// Blocks of up to 64 rows are measured one after the other as attention uses them, each thread with blocks of its own.
// The peak is measured before and after each run of a shape, so that both see the same clock rate; a fraction is the
// median over the runs. In bf16 the peak is that of the tiles, and what is always fp32 (attention's blocks,
// cross-entropy) is left out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "cli/options/precision.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/bf16.hpp"
#include "kernels/gemm.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"

namespace fovea::cli {
namespace {

using kernels::Trans;

struct GemmShape {
  std::int64_t m, n, k;
  const char* trans;
  bool packed = false;

  [[nodiscard]] double operations() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  [[nodiscard]] bool is_block() const { return m <= 64 && n <= 64; }
};

const GemmShape shapes[] = {
    // training forward
    {512, 128, 128, "NN"},
    {2048, 256, 256, "NN"},
    {4096, 128, 256, "NN"},
    {4096, 256, 128, "NN"},
    {2048, 1024, 256, "NN"},
    {2048, 256, 1024, "NN"},
    {4096, 10000, 128, "NN"},
    {2048, 10000, 256, "NN"},
    {2048, 1024, 256, "NN", true},
    // gradient of the input
    {512, 128, 128, "NT"},
    {4096, 128, 256, "NT"},
    {2048, 256, 1024, "NT"},
    {2048, 128, 10000, "NT"},
    // gradient of the weight
    {128, 128, 4096, "TN"},
    {256, 128, 4096, "TN"},
    {256, 1024, 2048, "TN"},
    {1024, 256, 2048, "TN"},
    {128, 10000, 4096, "TN"},
    // attention blocks
    {64, 64, 64, "NN"},
    {64, 64, 64, "NN", true},
    {64, 64, 64, "NT"},
    {32, 32, 32, "NN"},
    {32, 32, 32, "NN", true},
    {13, 13, 32, "NN"},
    {13, 13, 32, "NN", true},
    {13, 13, 32, "NT"},
    // decoding
    {1, 256, 256, "NN", true},
    {2, 256, 256, "NN", true},
    {3, 256, 256, "NN", true},
    {4, 256, 256, "NN", true},
    {5, 256, 256, "NN", true},
    {64, 256, 256, "NN", true},
};

using Clock = std::chrono::steady_clock;

// What the thread itself used when there is one, so that other processes do not count; the wall clock when there are
// more.
double thread_seconds() {
  if (threads() > 1) return now();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Work>
double thread_seconds_of(const Work& work) {
  const double begin = thread_seconds();
  work();
  return thread_seconds() - begin;
}

// All threads in the register-only loop at once, for about a millisecond; operations per second.
double peak() {
  const bool tiles = precision() == Precision::bf16;
  const auto loop = tiles ? kernels::permitted_bf16()->peak : kernels::active().gemm->peak;
  const std::int64_t rounds = tiles ? 20'000 : 100'000;
  std::vector<double> done(static_cast<std::size_t>(threads()));
  const double time = thread_seconds_of([&] {
    parallel_for(threads(), 1,
                 [&](std::int64_t begin, std::int64_t) { done[static_cast<std::size_t>(begin)] = loop(rounds); });
  });
  double total = 0;
  for (const double d : done) total += d;
  return total / time;
}

struct Measured {
  double speed, fraction;  // operations per second; of the peak
};

// Medians over about `seconds`.
template <class Work>
Measured measure_against_peak(double operations, double seconds, std::vector<double>& peaks, const Work& work) {
  std::vector<double> speeds;
  std::vector<double> fractions;
  work();
  double before = peak();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (speeds.size() < 7 || Clock::now() < end) {
    const double speed = operations / thread_seconds_of(work);
    const double after = peak();
    speeds.push_back(speed);
    fractions.push_back(2 * speed / (before + after));
    peaks.push_back(after);
    before = after;
  }
  return {median(speeds), median(fractions)};
}

nlohmann::ordered_json measure_cross_entropy(double seconds) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kWidth = 128;
  constexpr std::int64_t kVocabulary = 10000;
  const auto random = [](const Shape& shape, std::uint64_t seed) {
    const Tensor t = Tensor::empty(shape);
    Rng rng(seed);
    for (float& v : t.values()) v = static_cast<float>(rng.uniform() - 0.5);
    return Var::parameter(t);
  };
  const Var x = random({kRows, kWidth}, 1);
  const Var w = random({kVocabulary, kWidth}, 2);
  const Var b = random({kVocabulary}, 3);
  std::vector<std::int32_t> targets;
  for (std::int64_t i = 0; i < kRows; ++i) targets.push_back(static_cast<std::int32_t>(1 + i * 7 % (kVocabulary - 1)));
  const auto step = [&] {
    for (const Var* parameter : {&x, &w, &b}) parameter->zero_grad();
    backward(linear_cross_entropy(x, w, b, targets, {.label_smoothing = 0.1F}).loss);
  };
  arena_trim();
  const std::size_t before = arena_stats().held_bytes;
  step();
  const auto gradients = static_cast<std::size_t>(x.size() + w.size() + b.size()) * sizeof(float);
  const double extra = static_cast<double>(arena_stats().held_bytes - before - gradients) / (1 << 20);
  std::vector<double> peaks;
  const Measured measured = measure_against_peak(3 * 2.0 * kRows * kWidth * kVocabulary, seconds, peaks, step);
  return {{"gflops", measured.speed * 1e-9}, {"fraction", measured.fraction}, {"extra_mb", extra}};
}

class GemmBench {
 public:
  GemmBench() : a_(values(2048 * 10000)), b_(values(4096 * 10000)), c_(Tensor::empty({4096 * 10000})) {}

  nlohmann::ordered_json measure(const GemmShape& shape, double seconds) {
    kernels::PackedMatrix packed;
    if (shape.packed) packed = kernels::PackedMatrix(Trans::no, shape.k, shape.n, b_.data(), shape.n);
    const auto calls = std::max<std::int64_t>(1, static_cast<std::int64_t>(1.5e-3 * peak() / shape.operations()));
    const auto work = [&] { run(shape, packed, calls); };
    const Measured measured =
        measure_against_peak(shape.operations() * static_cast<double>(calls), seconds, peaks_, work);
    return {{"m", shape.m},
            {"n", shape.n},
            {"k", shape.k},
            {"trans", shape.trans},
            {"packed", shape.packed},
            {"gflops", measured.speed * 1e-9},
            {"fraction", measured.fraction}};
  }

  /// How many times as fast all threads are as one.
  double scaling(double seconds) {
    const GemmShape shape{2048, 1024, 256, "NN"};
    std::vector<double> ratios;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (ratios.size() < 7 || Clock::now() < end) {
      const double one = thread_seconds_of([&] { gemm(shape, 0); });
      const double all = thread_seconds_of([&] { run(shape, {}, 1); });
      ratios.push_back(one / all);
    }
    return median(ratios);
  }

  [[nodiscard]] double peak_gflops() const { return median(peaks_) * 1e-9; }

 private:
  static constexpr std::int64_t kBlocks = 4;  // that one thread goes through

  static Tensor values(std::int64_t count) {
    constexpr std::int64_t kPeriod = 65521;
    Tensor t = Tensor::empty({count});
    Rng rng(1);
    for (std::int64_t i = 0; i < count; ++i) {
      t.data()[i] = i < kPeriod ? static_cast<float>(rng.uniform() - 0.5) : t.data()[i - kPeriod];
    }
    return t;
  }

  void run(const GemmShape& s, const kernels::PackedMatrix& packed, std::int64_t calls) const {
    if (s.is_block() || s.m <= 8) {  // many small products: each thread its own
      parallel_for(threads(), 1, [&](std::int64_t thread, std::int64_t) {
        const std::int64_t share = calls / threads() + (thread < calls % threads() ? 1 : 0);
        for (std::int64_t i = 0; i < share; ++i) {
          const std::int64_t block = thread * kBlocks + i % kBlocks;
          if (s.packed) {
            kernels::gemm_packed(s.m, a_.data() + block * s.m * s.k, s.k, packed, 0, c_.data() + block * s.m * s.n,
                                 s.n);
          } else {
            gemm(s, block);
          }
        }
      });
      return;
    }
    for (std::int64_t i = 0; i < calls; ++i) {
      if (s.packed) {
        kernels::parallel_gemm_packed(s.m, a_.data(), s.k, packed, 0, c_.data(), s.n);
      } else {
        kernels::parallel_gemm(ta(s), tb(s), s.m, s.n, s.k, a_.data(), lda(s), b_.data(), ldb(s), 0, c_.data(), s.n);
      }
    }
  }

  void gemm(const GemmShape& s, std::int64_t block) const {
    kernels::gemm(ta(s), tb(s), s.m, s.n, s.k, a_.data() + block * s.m * s.k, lda(s), b_.data() + block * s.n * s.k,
                  ldb(s), 0, c_.data() + block * s.m * s.n, s.n);
  }

  static Trans ta(const GemmShape& s) { return s.trans[0] == 'T' ? Trans::yes : Trans::no; }
  static Trans tb(const GemmShape& s) { return s.trans[1] == 'T' ? Trans::yes : Trans::no; }
  static std::int64_t lda(const GemmShape& s) { return ta(s) == Trans::no ? s.k : s.m; }
  static std::int64_t ldb(const GemmShape& s) { return tb(s) == Trans::no ? s.n : s.k; }

  Tensor a_, b_, c_;
  std::vector<double> peaks_;
};

}  // namespace

void add_bench_gemm(CLI::App& bench_app, const Streams& streams) {
  auto* app = bench_app.add_subcommand("gemm", "matrix products, as a fraction of the machine's peak");
  const auto count = std::make_shared<int>(0);
  const auto seconds = std::make_shared<double>(0.3);
  const auto wanted = std::make_shared<std::string>("fp32");
  app->add_option("--threads", *count, "default: all cores")->check(CLI::Range(1, 1024));
  app->add_option("--seconds", *seconds, "time per shape")->check(CLI::Range(0.0, 60.0))->capture_default_str();
  app->add_option("--precision", *wanted, "fp32 or bf16")->capture_default_str();
  app->callback([count, seconds, wanted, streams] {
    if (*count > 0) set_threads(*count);
    const ScopedPrecision products(measurable_precision(*wanted));
    const bool tiles = precision() == Precision::bf16;
    GemmBench bench;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    streams.out << fmt::format("{:>20}  {:5}  {:6}  {:>8}  {:>8}\n", "m x n x k", "trans", "packed", "gflops",
                               "fraction");
    for (const GemmShape& shape : shapes) {
      if (tiles && shape.is_block() && !shape.packed) continue;
      const auto row = bench.measure(shape, *seconds);
      streams.out << fmt::format("{:>20}  {:5}  {:6}  {:8.1f}  {:8.3f}\n",
                                 fmt::format("{}x{}x{}", shape.m, shape.n, shape.k), shape.trans,
                                 shape.packed ? "yes" : "no", row["gflops"].get<double>(),
                                 row["fraction"].get<double>())
                  << std::flush;
      rows.push_back(row);
    }
    nlohmann::ordered_json result;
    result["kernels"] = kernels::active().name;
    result["threads"] = threads();
    result["precision"] = *wanted;
    result["peak_gflops"] = bench.peak_gflops();
    result["shapes"] = rows;
    if (!tiles) {  // both are of fp32
      result["linear_cross_entropy"] = measure_cross_entropy(3 * *seconds);
      if (threads() > 1) result["scaling"] = bench.scaling(*seconds);
    }
    streams.out << result.dump() << '\n';
  });
}

}  // namespace fovea::cli
