// fovea bench decode --preset P --vocab V --batch B --beam K --length L [--threads T] [--seconds S]
//
// Decodes random sources of L tokens with random weights; every output has exactly L tokens. Prints sentences_per_s and
// tokens_per_s. With one sentence a batch the threads share it; with more, each thread has a batch of its own.
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/threads.hpp"

namespace fovea::cli {
namespace {

struct Options {
  std::string preset = "transformer-tiny";
  std::int32_t vocabulary = 10000;
  std::int64_t batch = 1;
  int beam = 1;
  int length = 15;
  int threads = 0;
  double seconds = 4;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void decode_once(const Seq2Seq& model, const Options& o, std::uint64_t seed) {
  const NoGrad quiet;
  Rng rng(seed);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(o.batch * o.length));
  for (auto& id : ids) {
    id = special_ids + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(o.vocabulary - special_ids)));
  }
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(o.batch), o.length);
  const std::vector<SearchInput> inputs(static_cast<std::size_t>(o.batch), {o.length, 0, {}});
  Pass pass;
  const Memory memory = model.encode({ids, lengths, o.batch, o.length}, pass);
  const auto stepper = model.start(memory, false);
  (void)search(*stepper, inputs, {.beam = o.beam, .min_length = o.length, .max_length = o.length});
}

nlohmann::json measure(const Options& o) {
  ModelConfig config = preset(o.preset);
  config.tokens().vocabulary = config.generator().vocabulary = o.vocabulary;
  Parameters parameters(1);
  { const Seq2Seq made(config, parameters); }
  parameters.pack();
  struct Copy {
    Parameters parameters;
    Seq2Seq model;
    Copy(const ModelConfig& c, const Parameters& p) : parameters(p.replica()), model(c, parameters) {}
  };
  std::vector<std::unique_ptr<Copy>> copies;
  const int workers = o.batch == 1 ? 1 : threads();
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
  run();
  run();
  std::int64_t sentences = 0;
  const double start = now();
  while (now() - start < o.seconds) {
    run();
    sentences += o.batch * workers;
  }
  const double rate = static_cast<double>(sentences) / (now() - start);
  return {{"preset", o.preset},
          {"threads", threads()},
          {"batch", o.batch},
          {"beam", o.beam},
          {"length", o.length},
          {"sentences_per_s", rate},
          {"tokens_per_s", rate * o.length}};
}

}  // namespace

void add_bench_decode(CLI::App& bench, const Streams& streams) {
  auto* sub = bench.add_subcommand("decode", "decoding random sentences with random weights");
  const auto o = std::make_shared<Options>();
  sub->add_option("--preset", o->preset, "the model");
  sub->add_option("--vocab", o->vocabulary, "size of both vocabularies")->check(CLI::Range(5, 10000000));
  sub->add_option("--batch", o->batch, "sentences decoded together by a thread")->check(CLI::Range(1, 100000));
  sub->add_option("--beam", o->beam, "hypotheses per sentence; 1: greedy")->check(CLI::Range(1, 1000));
  sub->add_option("--length", o->length, "tokens of every source and output")->check(CLI::Range(1, 1000));
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->add_option("--seconds", o->seconds, "how long to measure")->check(CLI::Range(0.1, 3600.0));
  sub->callback([o, streams] {
    if (o->threads != 0) set_threads(o->threads);
    streams.out << measure(*o).dump() << '\n';
  });
}

}  // namespace fovea::cli
