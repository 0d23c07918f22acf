// fovea bench attention --batch B --heads H --queries N --keys N --dim D [--causal] [--backward]
//                       [--score S] [--softcap C] [--distance-bias K] [--window W] [--documents N] [--key-heads K]
//                       [--top N] [--threads T] [--seconds S]
//
// median_ms of a forward pass (with --backward: and its gradient), gflops, peak_rss_mb of the process, and what the
// machine itself does in the same run to compare with: peak_gflops (a register-only loop of multiply-adds) and the
// fraction of it; for additive tanh_ms, the time of the tanh evaluations alone; for one query read_gb_s, a plain read
// of the keys and values.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "attention/block_map.hpp"
#include "attention/tiled/fused.hpp"
#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "fovea/attention/attend.hpp"
#include "fovea/error.hpp"
#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::cli {
namespace {

struct AttentionBench {
  FusedShape shape{.batch = 1, .heads = 8, .key_heads = 0, .queries = 512, .keys = 512, .dim = 64, .value_dim = 64};
  std::string score = "scaled-dot";
  bool causal = false;
  bool backward = false;
  float softcap = 0;
  std::int64_t distance_bias = 0;  // reach of a learned bias by distance; 0: none
  std::int64_t window = -1;
  std::int64_t documents = 0;  // tokens of a document; 0: one
  std::int64_t top = 0;
  int threads = 0;
  double seconds = 1;
};

// Whether the tiles take the score as it is.
bool is_fused(const std::string& score) {
  return score == "dot" || score == "scaled-dot" || score == "additive";
}

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds_of(Work&& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Multiply-adds per second of all threads together, in GFLOP/s.
double peak_gflops() {
  const auto peak = kernels::active().gemm->peak;
  constexpr std::int64_t kRounds = 500'000;
  std::atomic<double> operations{0};
  const double time =
      seconds_of([&] { parallel_for(threads(), 1, [&](std::int64_t, std::int64_t) { operations += peak(kRounds); }); });
  return operations / time * 1e-9;
}

// tanh of `count` values, a buffer in L1 at a time.
void tanh_alone(std::int64_t count) {
  constexpr std::int64_t kBuffer = 2048;
  const kernels::Map tanh = kernels::active().math->tanh;
  parallel_for((count + kBuffer - 1) / kBuffer, 64, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float x[kBuffer];
    alignas(64) float y[kBuffer];
    for (std::int64_t i = 0; i < kBuffer; ++i) x[i] = static_cast<float>(i % 64) * 0.05F - 1.6F;
    for (std::int64_t part = begin; part < end; ++part) {
      tanh(x, y, static_cast<std::size_t>(std::min(kBuffer, count - part * kBuffer)));
    }
  });
}

// Reads both arrays once; the sum keeps the reads.
std::uint64_t read_alone(const Tensor& a, const Tensor& b) {
  using Line = std::uint64_t __attribute__((vector_size(64)));
  std::atomic<std::uint64_t> total{0};
  for (const Tensor* t : {&a, &b}) {
    const auto* lines = reinterpret_cast<const Line*>(t->data());
    parallel_for(t->size() / 16, 4096, [&](std::int64_t begin, std::int64_t end) {
      Line sums[4] = {};
      std::int64_t i = begin;
      for (; i + 4 <= end; i += 4) {
        for (int k = 0; k < 4; ++k) sums[k] ^= lines[i + k];
      }
      for (; i < end; ++i) sums[0] ^= lines[i];
      total += (sums[0] ^ sums[1] ^ sums[2] ^ sums[3])[0];
    });
  }
  return total;
}

Tensor random(const Shape& shape, std::uint64_t seed) {
  Tensor t = Tensor::empty(shape);
  Rng rng(seed);
  for (float& v : t.values()) v = static_cast<float>(rng.normal());
  return t;
}

// [batch, heads, rows, width], contiguous.
template <class T>
HeadArray<T> heads_of(const Tensor& t) {
  return {t.data(), t.stride(0), t.stride(1), t.stride(2)};
}

class Arrays {
 public:
  explicit Arrays(const AttentionBench& bench)
      : s_(bench.shape),
        q_(random({s_.batch, s_.heads, s_.queries, s_.dim}, 1)),
        k_(random({s_.batch, s_.key_heads, s_.keys, s_.dim}, 2)),
        v_(random({s_.batch, s_.key_heads, s_.keys, s_.value_dim}, 3)),
        w_(random({s_.dim}, 4)),
        out_(Tensor::empty({s_.batch, s_.heads, s_.queries, s_.value_dim})),
        stats_(Tensor::empty({s_.batch, s_.heads, 2, s_.queries})) {
    attention.shape = s_;
    attention.q = heads_of<const float>(q_);
    attention.k = heads_of<const float>(k_);
    attention.v = heads_of<const float>(v_);
    attention.out = heads_of<float>(out_);
    attention.stats = stats_.data();
    if (bench.score == "additive") attention.w = w_.data();
    if (bench.score == "scaled-dot") attention.scale = 1 / std::sqrt(static_cast<float>(s_.dim));
    attention.visibility.offset = s_.keys - s_.queries;
    attention.visibility.causal = bench.causal;
    attention.visibility.window = bench.window;
    attention.softcap = bench.softcap;
    if (bench.documents > 0) {
      std::vector<std::int64_t> ids(static_cast<std::size_t>(s_.batch * s_.keys));
      for (std::size_t t = 0; t < ids.size(); ++t) {
        ids[t] = static_cast<std::int64_t>(t) % s_.keys / bench.documents;
      }
      documents_ = BlockMask::of_documents(ids, s_.batch, s_.keys);
      attention.visibility.blocks = {documents_.map()->heads.data(), 1, 0};
    }
    if (bench.distance_bias > 0) {
      table_ = random({s_.heads, 2 * bench.distance_bias + 1}, 7);
      modifiers_.emplace(ScoreModifiers{modifier::distance_bias(table_)}, s_.keys - s_.queries);
      attention.modifiers = &*modifiers_;
      dtable_ = Tensor::zeros(table_.shape());
      grads.modifiers.push_back({table_.size(), dtable_.data()});
    }
    if (bench.backward) {
      dout_ = random(out_.shape(), 5);
      dq_ = Tensor::empty(q_.shape());
      dk_ = Tensor::empty(k_.shape());
      dv_ = Tensor::empty(v_.shape());
      dw_ = Tensor::zeros(w_.shape());
      grads.dout = heads_of<const float>(dout_);
      grads.dq = heads_of<float>(dq_);
      grads.dk = heads_of<float>(dk_);
      grads.dv = heads_of<float>(dv_);
      if (attention.w != nullptr) grads.dw = dw_.data();
    }
  }
  [[nodiscard]] const Tensor& queries() const { return q_; }
  [[nodiscard]] const Tensor& keys() const { return k_; }
  [[nodiscard]] const Tensor& values() const { return v_; }

  FusedAttention attention;
  FusedGrads grads;

 private:
  FusedShape s_;
  Tensor q_, k_, v_, w_, out_, stats_;
  Tensor dout_, dq_, dk_, dv_, dw_, table_, dtable_;
  BlockMask documents_;
  std::optional<attention::Modifiers> modifiers_;
};

// The other scores, as attend() computes them: with what comes before the tiles.
class Attending {
 public:
  Attending(const AttentionBench& bench, const Arrays& arrays) : backward_(bench.backward) {
    const FusedShape& s = bench.shape;
    const auto leaf = [&](const Tensor& t) { return backward_ ? Var::parameter(t) : Var(t); };
    q_ = leaf(arrays.queries());
    k_ = leaf(arrays.keys());
    v_ = leaf(arrays.values());
    const auto weights = [&](const Shape& shape) { return leaf(random(shape, 6)); };
    options_.causal = bench.causal;
    if (bench.score == "general") options_.score = score::General{.w = weights({s.dim, s.dim})};
    if (bench.score == "cosine") options_.score = score::Cosine{};
    if (bench.score == "concat") {
      options_.score = score::Concat{.w = weights({s.dim, 2 * s.dim}), .v = weights({s.dim})};
    }
    if (bench.score == "location") options_.score = score::Location{.w = weights({s.keys, s.dim})};
    if (backward_) dout_ = random({s.batch, s.heads, s.queries, s.value_dim}, 5);
  }
  void run() const {
    if (!backward_) {
      const NoGrad quiet;
      (void)attend(q_, k_, v_, options_);
      return;
    }
    fovea::backward(attend(q_, k_, v_, options_).context, dout_);
    for (const Var& leaf : {q_, k_, v_}) leaf.zero_grad();
  }

 private:
  bool backward_;
  Var q_, k_, v_;
  AttendOptions options_;
  Tensor dout_;
};

// Medians over about `seconds`, the machine's own figure measured in between, so that both see the same clock rate.
struct Medians {
  double work = 0, machine = 0;
};
template <class Work, class Machine>
Medians measure(double seconds, Work&& work, Machine&& machine) {
  std::vector<double> times;
  std::vector<double> figures;
  work();
  double since_machine = 1e9;
  for (double spent = 0; spent < seconds || times.size() < 3;) {
    if (since_machine > seconds / 10) {
      figures.push_back(machine());
      since_machine = 0;
    }
    times.push_back(seconds_of(work));
    spent += times.back();
    since_machine += times.back();
  }
  return {median(times), median(figures)};
}

// Of one head. Causal: query i sees the keys up to i + keys - queries; as many queries as keys count as half, as usual.
double visible_pairs(const AttentionBench& bench) {
  const FusedShape& s = bench.shape;
  if (bench.window >= 0 || bench.documents > 0) {
    double pairs = 0;
    for (std::int64_t i = 0; i < s.queries; ++i) {
      const std::int64_t position = i + s.keys - s.queries;
      std::int64_t low = 0;
      std::int64_t high = bench.causal ? position + 1 : s.keys;
      if (bench.window >= 0) {
        low = std::max(low, position - bench.window);
        high = std::min(high, position + bench.window + 1);
      }
      if (bench.documents > 0) {
        low = std::max(low, position / bench.documents * bench.documents);
        high = std::min(high, position / bench.documents * bench.documents + bench.documents);
      }
      pairs += static_cast<double>(std::max<std::int64_t>(0, high - low));
    }
    return pairs;
  }
  if (!bench.causal) return static_cast<double>(s.queries) * static_cast<double>(s.keys);
  if (s.queries == s.keys) return 0.5 * static_cast<double>(s.queries) * static_cast<double>(s.keys);
  double pairs = 0;
  for (std::int64_t i = 0; i < s.queries; ++i) {
    pairs += static_cast<double>(std::clamp<std::int64_t>(i + s.keys - s.queries + 1, 0, s.keys));
  }
  return pairs;
}

nlohmann::ordered_json run_attention_bench(const AttentionBench& bench) {
  Arrays arrays(bench);
  const FusedShape& s = bench.shape;
  nlohmann::ordered_json result;
  const bool fused = is_fused(bench.score);
  const Attending attending(bench, arrays);
  const auto work = [&] {
    if (!fused) return attending.run();
    fused_forward(arrays.attention);
    if (bench.backward) fused_backward(arrays.attention, arrays.grads);
  };
  const Medians against_peak = measure(bench.seconds, work, peak_gflops);
  // As is usual: half of all pairs when causal. The fraction counts the visible ones, and so do gflops with a window or
  // documents.
  const bool sparse = bench.window >= 0 || bench.documents > 0;
  const double all = sparse ? visible_pairs(bench) / (bench.causal ? 0.5 : 1.0)
                            : static_cast<double>(s.queries) * static_cast<double>(s.keys);
  const double pass = 4.0 * static_cast<double>(s.batch * s.heads * s.dim) * (bench.backward ? 3.5 : 1.0);
  const double gflops = pass * (bench.causal ? 0.5 : 1.0) * all / against_peak.work * 1e-9;
  result["median_ms"] = against_peak.work * 1e3;
  result["gflops"] = gflops;
  result["peak_gflops"] = against_peak.machine;
  result["fraction"] = pass * visible_pairs(bench) / against_peak.work * 1e-9 / against_peak.machine;
  if (bench.score == "additive") {
    const std::int64_t count = s.batch * s.heads * s.queries * s.keys * s.dim;
    const Medians tanh = measure(bench.seconds, work, [&] { return seconds_of([&] { tanh_alone(count); }); });
    result["tanh_ms"] = tanh.machine * 1e3;
    result["ratio"] = tanh.work / tanh.machine;
  }
  if (s.queries == 1) {
    const double bytes = static_cast<double>(arrays.keys().size() + arrays.values().size()) * sizeof(float);
    const auto read = [&] { return seconds_of([&] { (void)read_alone(arrays.keys(), arrays.values()); }); };
    const Medians reading = measure(bench.seconds, work, read);
    result["read_gb_s"] = bytes / reading.machine * 1e-9;
    result["fraction_of_read"] = reading.machine / reading.work;
  }
  if (bench.top > 0) {
    const std::int64_t rows = s.batch * s.heads * s.queries;
    std::vector<std::int64_t> index(static_cast<std::size_t>(rows * bench.top));
    const Tensor weight = Tensor::empty({rows, bench.top});
    FusedWeights wanted;
    wanted.rows = {0, s.queries};
    wanted.top = bench.top;
    wanted.top_index = index.data();
    wanted.top_weight = weight.data();
    result["top_ms"] = seconds_of([&] { fused_weights(arrays.attention, wanted); }) * 1e3;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result["peak_rss_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
  return result;
}

void check(const AttentionBench& bench) {
  const FusedShape& s = bench.shape;
  if (s.heads % s.key_heads != 0) throw UsageError("--key-heads: must divide --heads");
  if (bench.top > s.keys) throw UsageError("--top: at most --keys");
  const bool changed = bench.softcap > 0 || bench.distance_bias > 0 || bench.window >= 0 || bench.documents > 0;
  if (changed && !is_fused(bench.score)) {
    throw UsageError(
        "--score: with --softcap, --distance-bias, --window and --documents it is dot, scaled-dot or additive");
  }
  if (bench.documents > 0 && s.queries != s.keys)
    throw UsageError("--documents: --queries and --keys must be the same");
  if (bench.top > 0 && !is_fused(bench.score)) throw UsageError("--top: goes with dot, scaled-dot and additive");
}

}  // namespace

void add_bench_attention(CLI::App& bench_app, const Streams& streams) {
  auto* app = bench_app.add_subcommand("attention", "fused attention, forward and backward");
  const auto options = std::make_shared<AttentionBench>();
  FusedShape& s = options->shape;
  const auto size = CLI::Range(std::int64_t{1}, std::int64_t{1} << 24);
  app->add_option("--batch", s.batch, "sequences")->check(size)->capture_default_str();
  app->add_option("--heads", s.heads, "heads")->check(size)->capture_default_str();
  app->add_option("--key-heads", s.key_heads, "heads of keys and values; default: --heads")->check(size);
  app->add_option("--queries", s.queries, "queries of a sequence")->check(size)->capture_default_str();
  app->add_option("--keys", s.keys, "keys of a sequence")->check(size)->capture_default_str();
  app->add_option("--dim", s.dim, "width of a head, and of the values")->check(size)->capture_default_str();
  app->add_flag("--causal", options->causal, "query i sees keys up to i + keys - queries");
  app->add_flag("--backward", options->backward, "forward and gradient");
  app->add_option("--score", options->score, "the score")
      ->check(CLI::IsMember({"dot", "scaled-dot", "additive", "general", "cosine", "concat", "location"}))
      ->capture_default_str();
  app->add_option("--softcap", options->softcap, "soft cap of the scores")->check(CLI::Range(1e-3, 1e6));
  app->add_option("--distance-bias", options->distance_bias, "learned bias for distances up to N")->check(size);
  app->add_option("--window", options->window, "keys at most N positions away")->check(size);
  app->add_option("--documents", options->documents, "packed documents of N tokens; a query sees its own")->check(size);
  app->add_option("--top", options->top, "also find the N largest weights of each query")->check(size);
  app->add_option("--threads", options->threads, "default: all cores")->check(CLI::Range(1, 1024));
  app->add_option("--seconds", options->seconds, "how long to measure")->check(CLI::Range(0.0, 3600.0));
  app->callback([options, streams] {
    AttentionBench bench = *options;
    if (bench.shape.key_heads == 0) bench.shape.key_heads = bench.shape.heads;
    bench.shape.value_dim = bench.shape.dim;
    check(bench);
    if (bench.threads > 0) set_threads(bench.threads);
    streams.out << run_attention_bench(bench).dump() << '\n';
  });
}

}  // namespace fovea::cli
