// fovea bench train --preset P [--task generate|chat|classify] [--copy] [--decoder-self D] --vocab V --batch-tokens N
//                   [--length L] [--threads T] [--precision P] [--seconds S]
//
// Whole training steps (forward, backward, clip, Adam) on random sentences of 13 to 16 tokens. Prints
// target_tokens_per_s, gflops (the model's arithmetic on real tokens) and its share of the machine's peak, which is
// that of fp32 whatever the precision; products_share is the share of the threads' time that matrix products take.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "base/arena.hpp"
#include "base/processes.hpp"
#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/classify.hpp"
#include "cli/options/precision.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/threads.hpp"
#include "fovea/train/options.hpp"
#include "kernels/product_time.hpp"
#include "model/arithmetic.hpp"
#include "tasks/pair_learner.hpp"
#include "tasks/training/job/requested_model.hpp"
#include "train/workers.hpp"

namespace fovea::cli {
namespace {

// Random ids in sentences of 13 to 16 tokens, or of exactly `length`, the end included.
class RandomPairs final : public text::Pairs {
 public:
  // `turns`: of a source, of similar length.
  RandomPairs(std::int64_t count, std::int32_t vocabulary, std::int64_t length, std::size_t turns, std::uint64_t seed) {
    Rng rng(seed);
    const auto sentence = [&] {
      std::vector<std::int32_t> ids(length > 0 ? static_cast<std::size_t>(length - 1) : 12 + rng.below(4));
      for (auto& id : ids)
        id = special_ids + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(vocabulary - special_ids)));
      return ids;
    };
    for (std::int64_t i = 0; i < count; ++i) {
      source_.push_back(sentence());
      target_.push_back(sentence());
      for (std::size_t t = 1; t < turns; ++t) source_.back()[t * source_.back().size() / turns] = bos_id;
    }
  }
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(source_.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    return source_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return target_[static_cast<std::size_t>(i)];
  }
  // Both sides have one vocabulary.
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override { return source(i); }

 private:
  std::vector<std::vector<std::int32_t>> source_, target_;
};

struct TrainBench {
  std::string preset = "transformer-tiny", task = "generate", decoder_self = "";
  bool copy = false;
  std::int32_t vocabulary = 10000;
  std::int64_t batch_tokens = 4096;
  std::int64_t micro_tokens = TrainOptions{}.micro_tokens;
  std::int64_t length = 0;  // of all sentences; 0: 13 to 16
  std::string precision = "fp32";
  int threads = 0;
  double seconds = 4;
};

// That take turns; each is seen twice before the clock starts, so that the arena has what it needs.
constexpr std::int64_t kBatches = 2;

nlohmann::json measure(const TrainBench& o) {
  ModelConfig config = preset(o.preset);
  if (!o.decoder_self.empty()) {
    set_decoder_self(config.generator().decoder, enum_value<DecoderSelf>(o.decoder_self, "decoder_self"));
  }
  config.tokens().vocabulary = config.generator().vocabulary = o.vocabulary;
  config.generator().copy = o.copy;
  if (o.task == "chat") {
    TurnSourceConfig turns;
    static_cast<TokenSourceConfig&>(turns) = config.tokens();
    config.source = turns;
  }
  Parameters parameters(1);
  build_weights(config, parameters);
  TrainOptions options;
  options.adam.rate = 1e-4;
  const auto count = std::max<std::int64_t>(1, o.length > 0 ? o.batch_tokens / o.length : o.batch_tokens * 2 / 29);
  const RandomPairs pairs(kBatches * count, o.vocabulary, o.length, o.task == "chat" ? 3 : 1, 7);
  const PairExamples examples(pairs);
  const LearnerFactory learners = pair_learners(config, pairs);
  Workers workers(learners, parameters, threads(), processes());
  Adam adam(parameters, options.adam);
  double flops = 0;
  double seconds = 0;
  std::int64_t tokens = 0;
  std::int64_t steps = 0;
  std::int64_t timed_steps = 0;
  std::uint64_t allocations = 0;
  std::vector<double> peaks;
  std::vector<std::int64_t> batch;
  kernels::ProductTime& products = kernels::product_time();
  double timed = 0;  // seconds of the steps whose products are timed: the last ones
  for (std::int64_t step = 1; seconds < o.seconds || steps < 2 || timed_steps < kBatches; ++step) {
    products.wanted = seconds >= o.seconds && steps >= 2;
    batch.resize(static_cast<std::size_t>(count));
    std::iota(batch.begin(), batch.end(), (step % kBatches) * count);
    double needed = 0;
    for (const auto i : batch) {
      needed += 3 * forward_flops(config, static_cast<std::int64_t>(pairs.source(i).size()) + 1,
                                  static_cast<std::int64_t>(pairs.target(i).size()) + 1);
    }
    const double start = now();
    const BatchTotals totals =
        workers.run(examples, batch, o.micro_tokens, 0.3F, {.label_smoothing = 0.1F}, static_cast<std::uint64_t>(step));
    adam.step(1e-4, 1.0 / static_cast<double>(totals.outputs));
    const double took = now() - start;
    if (step <= 2 * kBatches) {
      allocations = arena_stats().system_allocations;
      continue;
    }
    if (products.wanted) {
      timed += took;
      ++timed_steps;
      continue;
    }
    seconds += took;
    flops += needed;
    tokens += totals.outputs;
    ++steps;
    if (steps % 4 == 1) peaks.push_back(measure_peak_gflops());
  }
  products.wanted = false;
  std::sort(peaks.begin(), peaks.end());
  const double peak = peaks[peaks.size() / 2];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"preset", o.preset},
          {"task", o.task},
          {"copy", o.copy},
          {"threads", threads()},
          {"precision", o.precision},
          {"parameters", parameters.count()},
          {"target_tokens_per_s", static_cast<double>(tokens) / seconds},
          {"gflops", flops / seconds * 1e-9},
          {"peak_gflops", peak},
          {"fraction", flops / seconds * 1e-9 / peak},
          {"products_share", static_cast<double>(products.nanoseconds.exchange(0)) * 1e-9 / (timed * threads())},
          {"steps", steps},
          {"step_ms", 1000 * seconds / static_cast<double>(steps)},
          {"allocations_in_steady_steps", arena_stats().system_allocations - allocations},
          {"peak_rss_mb", static_cast<double>(usage.ru_maxrss) / 1024}};
}

}  // namespace

void add_bench_train(CLI::App& bench, const Streams& streams) {
  auto* sub = bench.add_subcommand("train", "whole training steps on random sentences");
  const auto o = std::make_shared<TrainBench>();
  sub->add_option("--preset", o->preset, "the model");
  sub->add_option("--decoder-self", o->decoder_self, "attention, ssru or average (transformer)");
  sub->add_option("--task", o->task,
                  "generate; chat, of three turns; classify: a bag of words and pairs of words; caption: pictures")
      ->check(CLI::IsMember({"generate", "chat", "classify", "caption"}));
  sub->add_flag("--copy", o->copy, "words of the source can be copied");
  sub->add_option("--vocab", o->vocabulary, "size of both vocabularies")->check(CLI::Range(5, 10000000));
  sub->add_option("--batch-tokens", o->batch_tokens, "target tokens per step")->check(CLI::Range(1, 10000000));
  sub->add_option("--micro-tokens", o->micro_tokens, "target tokens a thread works on at a time")
      ->check(CLI::Range(1, 10000000));
  sub->add_option("--length", o->length, "tokens of every sentence, its end included; default: 13 to 16")
      ->check(CLI::Range(2, 100000));
  sub->add_option("--precision", o->precision, "of matrix products: fp32 or bf16")->capture_default_str();
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->add_option("--seconds", o->seconds, "how long to measure")->check(CLI::Range(0.1, 3600.0));
  const auto captions = std::make_shared<CaptionBench>();
  sub->add_option("--picture-encoder", captions->picture_encoder, "small or squeezenet (caption)");
  sub->add_option("--decoder", captions->decoder, "rnn or transformer (caption)")
      ->check(CLI::IsMember({"rnn", "transformer"}));
  sub->add_option("--dim", captions->dim, "width of the decoder (caption)")->check(CLI::Range(4, 16384));
  sub->add_flag("--freeze", captions->freeze, "on features that were computed before (caption)");
  sub->callback([o, captions, sub, streams] {
    if (o->threads != 0) set_threads(o->threads);
    const ScopedPrecision products(measurable_precision(o->precision));
    if (o->task == "caption") {
      captions->seconds = o->seconds;
      if (sub->count("--batch-tokens") > 0) captions->batch_tokens = o->batch_tokens;
      if (sub->count("--micro-tokens") > 0) captions->micro_tokens = o->micro_tokens;
      streams.out << measure_captions(*captions).dump() << '\n';
      return;
    }
    streams.out
        << (o->task == "classify" ? measure_classifier(o->vocabulary, o->batch_tokens, o->seconds) : measure(*o)).dump()
        << '\n';
  });
}

}  // namespace fovea::cli
