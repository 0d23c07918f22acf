// fovea run --model DIR… [--beam N] [--length-penalty A] [--n-best N] [--sample] … < in > out
//
// One output line per input line, in order; an empty line gives an empty line. --attention FILE and --alignments FILE
// say where the model looked, with --all-heads each layer and head; --scores puts the score and a tab before each
// output.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/outputs.hpp"
#include "cli/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "tasks/reranker.hpp"
#include "tasks/translator.hpp"
#include "text/corpus.hpp"

namespace fovea::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string attention_file, alignments_file;
  std::optional<std::string> rerank_source, rerank_target;
  double rerank_weight = 0.5;
  TranslateOptions how;
  bool scores = false;
  bool all_heads = false;
  int threads = 0;
};

// Lines are decoded in blocks, so that a long input neither waits for its end nor fills the memory.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kLookBlock = 64;  // every layer and head of a long line are millions of numbers

nlohmann::json attention_json(const Translation& t) {
  return {{"source", t.source_tokens}, {"target", t.target_tokens}, {"weights", t.weights}};
}

// The same with every layer and head, as `fovea view` reads them.
nlohmann::json attention_json(const Look& look) {
  nlohmann::json json = attention_json(look.translation);
  nlohmann::json& heads = json["heads"] = nlohmann::json::array();
  for (std::int64_t i = 0; i < look.layers * look.heads; ++i) {
    heads.push_back(
        {{"layer", i / look.heads}, {"head", i % look.heads}, {"weights", look.weights[static_cast<std::size_t>(i)]}});
  }
  return json;
}

// Before any work, what cannot go together.
void check_usage(const Options& o) {
  check_outputs_differ({{"--attention", &o.attention_file}, {"--alignments", &o.alignments_file}});
  if (o.rerank_source.has_value() != o.rerank_target.has_value()) {
    throw UsageError("--rerank-source and --rerank-target go together");
  }
  if (o.rerank_source) {
    if (o.how.search.beam < 2) throw UsageError("--beam: with --rerank-source there must be 2 or more to rank");
    if (o.how.search.sample) throw UsageError("--sample: drawn outputs are not ranked; leave out --rerank-source");
    Reranker::check_weight(o.rerank_weight);
  }
  if (!o.all_heads) return;
  if (o.attention_file.empty()) throw UsageError("--all-heads: it goes with --attention, the file to write them to");
  if (o.models.size() > 1) {
    throw UsageError(fmt::format("--all-heads: it goes with one model, {} are given", o.models.size()));
  }
  if (o.how.search.n_best > 1) throw UsageError("--n-best: with --all-heads there is one output for each line");
  if (o.rerank_source) throw UsageError("--rerank-source: with --all-heads there is no other output to choose");
  if (o.how.attention.layer >= 0 || o.how.attention.head >= 0) {
    throw UsageError("--all-heads: it writes every layer and head; leave out --layer and --head");
  }
}

std::optional<Reranker> reranker(const Options& o, const Streams& streams) {
  if (!o.rerank_source) return std::nullopt;
  const auto pairs = text::read_parallel(*o.rerank_source, *o.rerank_target);
  text::JointNgramModel memory(pairs.source, pairs.target);
  const std::size_t left_out = pairs.source.size() - memory.remembered();
  if (memory.remembered() == 0) {
    throw Error(fmt::format(
        "{} and {}: no line can be read token by token as its other side, which takes tokens with spaces between, at "
        "most two for each of the source's and at most {} on a side",
        *o.rerank_source, *o.rerank_target, text::MonotoneAligner::kLongest));
  }
  if (left_out > 0) {
    streams.err << fmt::format(
        "{} of {} pairs of {} are not remembered: they cannot be read token by token, at most two for each of the "
        "source's\n",
        left_out, pairs.source.size(), *o.rerank_source);
  }
  return Reranker(std::move(memory), o.rerank_weight);
}

// Each line by itself: its output is found, then walked through once more to see every layer and head.
std::vector<Look> look_at(const Translator& translator, const std::vector<std::string>& lines,
                          const TranslateOptions& how) {
  std::vector<Look> looks(lines.size());
  parallel_for(static_cast<std::int64_t>(lines.size()), 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::string& line = lines[static_cast<std::size_t>(i)];
      if (translator.tokenizers().source->encode(line).empty()) continue;
      TranslateOptions here = how;
      here.first_line += i;
      looks[static_cast<std::size_t>(i)] = translator.look(line, here);
    }
  });
  return looks;
}

void run_model(const Options& o, const Streams& streams) {
  TranslateOptions how = o.how;
  how.search.want_attention = !o.attention_file.empty() || !o.alignments_file.empty();
  check_usage(o);
  const std::vector<std::filesystem::path> folders(o.models.begin(), o.models.end());
  const Translator translator(folders);
  translator.check(how);
  if (how.search.want_attention && !translator.attends()) {
    throw UsageError(fmt::format("{}: {} has no attention to show",
                                 o.attention_file.empty() ? "--alignments" : "--attention",
                                 fmt::join(o.models, " with ")));
  }
  // Opened first: what cannot be written is said before the work, not after it.
  std::optional<WholeFile> attention;
  std::optional<WholeFile> alignments;
  if (!o.attention_file.empty()) attention.emplace(o.attention_file);
  if (!o.alignments_file.empty()) alignments.emplace(o.alignments_file);
  const std::optional<Reranker> memory = reranker(o, streams);
  if (memory) how.search.n_best = how.search.beam;
  std::vector<std::string> lines;
  std::int64_t read = 0;
  const auto flush = [&] {
    how.first_line = read - static_cast<std::int64_t>(lines.size());
    std::vector<Look> looks;
    std::vector<std::vector<Translation>> results;
    if (o.all_heads) {
      looks = look_at(translator, lines, how);
      for (const Look& look : looks) results.push_back({look.translation});
    } else {
      results = translator.translate(lines, how);
    }
    if (memory) {
      parallel_for(static_cast<std::int64_t>(lines.size()), 16, [&](std::int64_t from, std::int64_t to) {
        for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
          memory->rank(lines[i], results[i]);
          results[i].resize(std::min(results[i].size(), static_cast<std::size_t>(o.how.search.n_best)));
        }
      });
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (const Translation& t : results[i]) {
        if (o.scores) streams.out << fmt::format("{:.4f}\t", t.score);
        streams.out << t.text << '\n';
        if (attention) attention->write((o.all_heads ? attention_json(looks[i]) : attention_json(t)).dump() + "\n");
        if (alignments) alignments->write(alignment_text(t) + "\n");
      }
    }
    if (!streams.out.flush()) throw Error("standard output: cannot write");
    lines.clear();
  };
  const std::size_t block = o.all_heads ? kLookBlock : kBlock;
  for (std::string line; next_line(streams.in, line, read);) {
    lines.push_back(std::move(line));
    if (lines.size() == block || !has_more(streams.in)) flush();
  }
  if (!lines.empty()) flush();
  if (attention) attention->prepare();
  if (alignments) alignments->prepare();
  if (attention) attention->commit();
  if (alignments) alignments->commit();
}

}  // namespace

void add_run(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("run", "read lines, write what the model makes of them");
  const auto o = std::make_shared<Options>();
  SearchOptions& s = o->how.search;
  sub->add_option("--model", o->models,
                  "the model folder; several write each output together, by the mean of their probabilities")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--beam", s.beam, "hypotheses kept; 1: greedy");
  sub->add_option("--length-penalty", s.length_penalty, "rank by log-probability / length^A");
  sub->add_option("--coverage-penalty", s.coverage_penalty, "punish source tokens that were not looked at");
  auto* source = sub->add_option("--rerank-source", o->rerank_source,
                                 "rank the beam's outputs also by a memory of these pairs of lines")
                     ->expected(1);
  sub->add_option("--rerank-target", o->rerank_target, "what stands for each of them")->expected(1);
  sub->add_option("--rerank-weight", o->rerank_weight, "the memory's share of the ranking")->needs(source);
  sub->add_option("--n-best", s.n_best, "outputs per line, each on a line of its own");
  sub->add_option("--min-length", s.min_length, "tokens before the end may come");
  sub->add_option("--max-length", s.max_length, "most tokens; 0: twice the source and 20");
  sub->add_option("--no-repeat-ngram", s.no_repeat_ngram, "no N tokens in a row occur twice; 0: they may");
  sub->add_flag("--sample", s.sample, "draw each token instead of taking the best");
  sub->add_option("--temperature", s.temperature, "of the drawing");
  sub->add_option("--top-k", s.top_k, "draw among the K likeliest; 0: all");
  sub->add_option("--top-p", s.top_p, "draw among the likeliest with this probability together");
  sub->add_option("--seed", s.seed, "of the drawing")->check(whole_number());
  sub->add_flag("--replace-unknown", o->how.replace_unknown, "write the source word an unknown one looked at most");
  sub->add_flag("--scores", o->scores, "score, tab, output");
  sub->add_option("--attention", o->attention_file, "JSON lines: source, target, weights");
  sub->add_option("--alignments", o->alignments_file, "pairs i-j: source token i, target token j");
  sub->add_option("--layer", o->how.attention.layer, "attention of this decoder layer; default: the mean of all")
      ->check(whole_number(1000));
  sub->add_option("--head", o->how.attention.head, "attention of this head; default: the mean of all")
      ->check(whole_number(1000));
  sub->add_flag("--all-heads", o->all_heads, "write every layer and head to --attention too, a line at a time");
  sub->add_flag("--words", o->how.merge_words, "attention and alignments between words instead of tokens");
  sub->add_option("--batch-tokens", o->how.batch_tokens, "source tokens decoded together; fewer for beams wider than 5")
      ->check(CLI::Range(1, 100000000));
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, streams] {
    if (o->threads != 0) set_threads(o->threads);
    run_model(*o, streams);
  });
}

}  // namespace fovea::cli
