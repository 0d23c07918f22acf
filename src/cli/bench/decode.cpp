// fovea bench decode --preset P --vocab V --batch B --beam K --length L [--decoder-self D] [--type T] [--parallel N] …
//
// Decodes random sources of 13 to 16 tokens with random weights; every output has exactly L tokens. Prints
// sentences_per_s and tokens_per_s; of what bounds it, the fraction of the arithmetic peak (of the type that is
// multiplied) and of the rate at which weights of that size can be read; and products_share, the share of the time that
// matrix products take.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "cli/options/storage.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/threads.hpp"
#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/product_time.hpp"
#include "kernels/rows.hpp"
#include "model/arithmetic.hpp"
#include "tasks/training/job/requested_model.hpp"

namespace fovea::cli {
namespace {

struct DecodeBench {
  std::string preset = "transformer-tiny";
  std::int32_t vocabulary = 10000;
  std::int64_t batch = 1;
  int beam = 1;
  int length = 15;
  int threads = 0;
  int parallel = 0;
  std::int32_t shortlist = 0;
  std::string type = "fp32", decoder_self = "";
  double seconds = 4;
};

constexpr std::int64_t kShortest = 13;  // sources, their end included
constexpr std::int64_t kLongest = 16;

// --shortlist tokens, sorted; the end of sequence and some that all sentences share among them.
std::vector<std::int32_t> random_tokens(const DecodeBench& o, Rng& rng) {
  std::vector<std::int32_t> tokens;
  const std::int32_t shared = std::min(o.shortlist / 3, o.vocabulary - special_ids);
  for (std::int32_t t = eos_id; t < special_ids + shared; ++t) tokens.push_back(t);
  while (static_cast<std::int32_t>(tokens.size()) < o.shortlist) {
    tokens.push_back(special_ids +
                     static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(o.vocabulary - special_ids))));
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

void decode_once(const Seq2Seq& model, const DecodeBench& o, std::uint64_t seed) {
  const NoGrad quiet;
  Rng rng(seed);
  PaddedTokens source;
  std::vector<std::vector<std::int32_t>> lines(static_cast<std::size_t>(o.batch));
  std::vector<SearchInput> inputs;
  for (auto& line : lines) {
    line.resize(kShortest - 1 + rng.below(kLongest - kShortest + 1));
    for (auto& id : line) {
      id = special_ids + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(o.vocabulary - special_ids)));
    }
    inputs.push_back({static_cast<std::int64_t>(line.size()) + 1, 0, {}});
  }
  source.fill(o.batch, Marks::end,
              [&](std::int64_t r) { return std::span<const std::int32_t>(lines[static_cast<std::size_t>(r)]); });
  Pass pass;
  const Memory memory = model.encode(source.view(), pass);
  const auto stepper = model.start(memory, false);
  if (o.shortlist > 0) {
    std::vector<std::vector<std::int32_t>> candidates;
    for (std::int64_t s = 0; s < o.batch; ++s) candidates.push_back(random_tokens(o, rng));
    stepper->restrict_to(std::move(candidates));
  }
  (void)search(*stepper, inputs,
               {.beam = o.beam, .min_length = o.length, .max_length = o.length, .scores = o.beam > 1});
}

// Operations per second of a register-only loop in the type that is multiplied, on all threads, in billions.
double peak_gops(Storage storage) {
  if (storage != Storage::int8) return measure_peak_gflops();
  constexpr std::int64_t kRounds = 200000;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = now();
    double operations = 0;
    parallel_for(threads(), 1, [&](std::int64_t begin, std::int64_t) {
      const double done = kernels::active().int8->peak(kRounds);
      if (begin == 0) operations = done * threads();
    });
    best = std::max(best, operations / (now() - start) * 1e-9);
  }
  return best;
}

// GB per second at which each thread reads its own part of so many bytes, again and again: a maximum over them.
double read_rate(std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float)) / threads();
  const std::vector<float> data(static_cast<std::size_t>(count * threads()), 1);
  double best = 0;
  std::atomic<float> sink = 0;  // so that reading has a use
  for (int round = 0; round < 8; ++round) {
    const double start = now();
    parallel_for(threads(), 1, [&](std::int64_t part, std::int64_t) {
      for (int again = 0; again < 8; ++again) {
        sink = kernels::active().rows->peak(data.data() + part * count, count, false).top;
      }
    });
    best = std::max(best, 8.0 * static_cast<double>(data.size() * sizeof(float)) / (now() - start));
  }
  return best * 1e-9;
}

double bytes_of_number(const Parameters& parameters) {
  return parameters.packed() == Storage::int8 ? 1 : parameters.packed() == Storage::f16 ? 2 : 4;
}

// Bytes of the weights that a step of a batch reads: each is multiplied once for a target token, without a source.
double bytes_per_step(const ModelConfig& config, const Parameters& parameters) {
  return (forward_flops(config, 0, 1) - forward_flops(config, 0, 0)) / 2 * bytes_of_number(parameters);
}

nlohmann::json measure(const DecodeBench& o) {
  const Storage storage = storage_value(o.type);
  ModelConfig config = preset(o.preset);
  if (!o.decoder_self.empty()) {
    set_decoder_self(config.generator().decoder, enum_value<DecoderSelf>(o.decoder_self, "decoder_self"));
  }
  config.tokens().vocabulary = config.generator().vocabulary = o.vocabulary;
  Parameters parameters(1);
  pack_weights(config, parameters, {.type = storage});
  struct Copy {
    Parameters parameters;
    Seq2Seq model;
    Copy(const ModelConfig& c, const Parameters& p) : parameters(p.replica()), model(c, parameters) {}
  };
  std::vector<std::unique_ptr<Copy>> copies;
  // One sentence at a time may use all threads; batches are better off with one each.
  const int workers = o.parallel > 0 ? o.parallel : o.batch == 1 ? 1 : threads();
  if (workers > 1 && workers < threads()) {
    throw UsageError(
        fmt::format("--parallel: {} given; with {} threads 1, {} or more are possible", workers, threads(), threads()));
  }
  copies.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) copies.push_back(std::make_unique<Copy>(config, parameters));
  std::uint64_t round = 0;
  const auto run = [&] {
    ++round;
    if (workers == 1) return decode_once(copies[0]->model, o, round);
    parallel_for(workers, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t w = begin; w < end; ++w) {
        decode_once(copies[static_cast<std::size_t>(w)]->model, o, round * 64 + static_cast<std::uint64_t>(w));
      }
    });
  };
  const auto repeat = [&](double seconds) {
    std::int64_t sentences = 0;
    const double start = now();
    do {
      run();
      sentences += o.batch * workers;
    } while (now() - start < seconds);
    return static_cast<double>(sentences) / (now() - start);
  };
  run();
  run();
  const double rate = repeat(o.seconds);
  kernels::ProductTime& products = kernels::product_time();
  products.wanted = true;
  const double start = now();
  (void)repeat(std::max(0.3, o.seconds / 8));
  const double used = (now() - start) * std::min(workers, threads());
  products.wanted = false;
  const double rows = static_cast<double>(o.batch * o.beam);
  ModelConfig counted = config;
  if (o.shortlist > 0) counted.generator().vocabulary = std::min(o.shortlist, o.vocabulary);
  constexpr std::int64_t kMiddle = (kShortest + kLongest) / 2;
  const double encoding = forward_flops(counted, kMiddle, 0);  // once for a sentence; the rest for each hypothesis
  const double flops = encoding + o.beam * (forward_flops(counted, kMiddle, o.length + 1) - encoding);
  const double peak = peak_gops(storage);
  const double bytes = bytes_per_step(counted, parameters);
  const double reads = rate / static_cast<double>(o.batch) * (o.length + 1) * bytes * 1e-9;
  const double most = read_rate(static_cast<std::size_t>(bytes));
  const double of_peak = rate * flops * 1e-9 / peak;
  return {{"preset", o.preset},
          {"type", o.type},
          {"shortlist", o.shortlist},
          {"threads", threads()},
          {"parallel", workers},
          {"batch", o.batch},
          {"beam", o.beam},
          {"length", o.length},
          {"rows", rows},
          {"sentences_per_s", rate},
          {"tokens_per_s", rate * o.length},
          {"gflops", rate * flops * 1e-9},
          {"peak_gflops", peak},
          {"fraction", of_peak},
          {"weight_mb_per_step", bytes * 1e-6},
          {"read_gb_per_s", reads},
          {"read_peak_gb_per_s", most},
          {"read_fraction", reads / most},
          {"bound_by", of_peak >= reads / most ? "arithmetic" : "memory"},
          {"products_share", static_cast<double>(products.nanoseconds.exchange(0)) * 1e-9 / used}};
}

}  // namespace

void add_bench_decode(CLI::App& bench, const Streams& streams) {
  auto* sub = bench.add_subcommand("decode", "decoding random sentences with random weights");
  const auto o = std::make_shared<DecodeBench>();
  sub->add_option("--preset", o->preset, "the model");
  sub->add_option("--decoder-self", o->decoder_self, "attention, ssru or average (transformer)");
  sub->add_option("--vocab", o->vocabulary, "size of both vocabularies")->check(CLI::Range(5, 10000000));
  sub->add_option("--batch", o->batch, "sentences decoded together")->check(CLI::Range(1, 100000));
  sub->add_option("--beam", o->beam, "hypotheses per sentence; 1: greedy")->check(CLI::Range(1, 1000));
  sub->add_option("--length", o->length, "tokens of every output")->check(CLI::Range(1, 1000));
  sub->add_option("--type", o->type, "how matrices are stored: fp32, f16 or int8")->capture_default_str();
  sub->add_option("--parallel", o->parallel,
                  "batches under way at once; default: 1 of one sentence, else one per thread")
      ->check(CLI::Range(1, 1024));
  sub->add_option("--shortlist", o->shortlist, "tokens that a sentence may write; default: all")
      ->check(CLI::Range(1, 10000000));
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->add_option("--seconds", o->seconds, "how long to measure")->check(CLI::Range(0.1, 3600.0));
  sub->callback([o, streams] {
    if (o->threads != 0) set_threads(o->threads);
    streams.out << measure(*o).dump() << '\n';
  });
}

}  // namespace fovea::cli
