// fovea run --model DIR… [--beam N] [--length-penalty A] [--n-best N] [--sample] … < in > out
//
// One output line per input line (plain or gzip), in order; an empty line gives an empty line. --attention FILE writes
// which tokens attended to which, --kind whose attention, --all-heads each layer and head; --alignments FILE writes
// pairs; --intervene FILE changes the model while it runs; --scores puts the score and a tab before each output. A
// language model's output is the line and what follows it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/io/outputs.hpp"
#include "cli/io/shared_input.hpp"
#include "cli/options/storage.hpp"
#include "cli/options/whole_number.hpp"
#include "cli/run/run_options.hpp"
#include "fovea/captioner.hpp"
#include "fovea/classifier.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "fovea/translator.hpp"
#include "tasks/interventions_file.hpp"
#include "text/corpus.hpp"
#include "view/record/attention_file.hpp"

namespace fovea::cli {
namespace {

using Options = RunOptions;

// Lines are decoded in blocks, so that a long input neither waits for its end nor fills the memory.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kPictureBlock = 256;  // their pixels are held meanwhile
constexpr std::size_t kTraceBlock = 256;    // every layer and head of a line are thousands of numbers

// The kinds of attention that --kind names.
std::vector<AttentionKind> kinds_of(const Options& o) {
  std::vector<AttentionKind> kinds;
  for (const AttentionKindInfo& info : attention_kinds) {
    if (o.kind == "all" || o.kind == info.name) kinds.push_back(info.kind);
  }
  if (kinds.empty()) {
    throw UsageError(fmt::format("--kind: \"{}\" is not one of {}, all", o.kind, attention_kind_names()));
  }
  return kinds;
}

// Where the outputs of all processes go: rank 0 writes standard output and the files.
class RunOutputs {
 public:
  RunOutputs(const Options& o, const Streams& streams) : o_(o), streams_(streams) {
    if (!processes().first()) return;
    if (wants_attention()) attention_.emplace(o.attention_file);
    if (!o.alignments_file.empty()) alignments_.emplace(o.alignments_file);
  }
  [[nodiscard]] bool wants_attention() const { return !o_.attention_file.empty(); }

  void write(const SharedInput& input, SharedInput::Outputs own, std::span<const AttentionRecord> records,
             bool lists_heads = false) {
    if (wants_attention()) own.attention = view::attention_lines(records, lists_heads);
    const SharedInput::Outputs all = input.collect(std::move(own));
    if (attention_) attention_->write(all.attention);
    if (alignments_) alignments_->write(all.alignments);
    streams_.err << all.err << std::flush;
    if (!(streams_.out << all.out).flush()) throw Error("standard output: cannot write");
  }
  // Both appear or none.
  void commit() {
    if (attention_) attention_->prepare();
    if (alignments_) alignments_->prepare();
    if (attention_) attention_->commit();
    if (alignments_) alignments_->commit();
  }

 private:
  const Options& o_;
  const Streams& streams_;
  std::optional<WholeFile> attention_, alignments_;
};

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw FileError(path + ": cannot be read");
  return std::move(text).str();
}

// Before any work, what cannot go together.
void check_usage(const Options& o) {
  check_outputs_differ({{"--attention", &o.attention_file}, {"--alignments", &o.alignments_file}});
  (void)kinds_of(o);
  if (!o.intervene_file.empty() && o.models.size() > 1) {
    throw UsageError(fmt::format("--intervene: it goes with one model, {} are given", o.models.size()));
  }
  if (!o.traces()) return;
  const char* option = o.all_heads ? "--all-heads" : "--kind";
  if (o.attention_file.empty()) {
    throw UsageError(fmt::format("{}: it goes with --attention, the file to write to", option));
  }
  if (o.models.size() > 1) {
    throw UsageError(fmt::format("{}: it goes with one model, {} are given", option, o.models.size()));
  }
  if (o.how.n_best > 1) throw UsageError(fmt::format("--n-best: with {} there is one output for each line", option));
  if (o.how.layer >= 0 || o.how.head >= 0) {
    throw UsageError(fmt::format("{}: it writes every layer and head; leave out --layer and --head", option));
  }
}

// What --attention writes of a record with maps: of one kind, or of all.
AttentionRecord asked_kind(const Options& o, AttentionRecord record) {
  const auto& maps = record.maps;
  if (o.kind == "all") {
    if (maps.empty()) throw UsageError("--kind: the model has no attention to write");
    return record;
  }
  if (o.kind != "cross") {
    const auto wanted = attention_kind(o.kind);
    if (std::none_of(maps.begin(), maps.end(), [&](const AttentionMap& m) { return m.kind == wanted; })) {
      throw UsageError(o.kind == "encoder" || o.kind == "decoder"
                           ? fmt::format("--kind: the model's {} does not attend to itself", o.kind)
                           : fmt::format("--kind: the model has no {} attention", o.kind));
    }
    record = record_of_kind(record, wanted);
  }
  if (!o.all_heads) record.maps.clear();
  return record;
}

// The same of an output. A line without text has no maps.
AttentionRecord attention_record(const Options& o, const Translation& output) {
  AttentionRecord record = output.record();
  if (!o.traces() || output.source_tokens.empty()) return record;
  record = asked_kind(o, std::move(record));
  if (o.kind == "all" && record.source.empty()) {  // no cross-attention: the maps alone
    record.source = output.source_tokens;
    record.target = output.target_tokens;
    record.weights = {static_cast<std::int64_t>(record.target.size()), static_cast<std::int64_t>(record.source.size()),
                      std::vector<float>(record.target.size() * record.source.size(), 0.0F)};
  }
  return record;
}

// Each line by itself, with what is changed in it.
std::vector<std::vector<Translation>> with_interventions(const Translator& translator,
                                                         const std::vector<std::string>& lines,
                                                         const TranslateOptions& how, const InterventionsFile& file) {
  std::vector<std::vector<Translation>> all(lines.size());
  parallel_for(static_cast<std::int64_t>(lines.size()), 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      TranslateOptions here = how;
      here.first_line += i;
      here.interventions = file.of_line(here.first_line + 1);
      const std::span<const std::string> line(&lines[static_cast<std::size_t>(i)], 1);
      all[static_cast<std::size_t>(i)] = std::move(translator.translate(line, here)[0]);
    }
  });
  return all;
}

// What --attention gets of a label: of the kind that was asked for.
AttentionRecord label_record(const Options& o, const Classification& c) {
  AttentionRecord record = c.record();
  if (c.tokens.empty()) return record;
  if (o.kind == "all") {
    if (record.maps.empty()) throw UsageError("--kind: the model has no attention to write");
    return record;
  }
  if (o.kind != "cross" && o.kind != "pooling") {
    if (record.maps.empty()) throw UsageError(fmt::format("--kind: the model has no {} attention", o.kind));
    record = record_of_kind(record, attention_kind(o.kind));
  }
  if (!o.all_heads) record.maps.clear();
  return record;
}

// A classifier: a label per line; with --scores every label and its probability, best first.
void run_classifier(const Options& o, const Streams& streams) {
  if (!o.alignments_file.empty()) throw UsageError("--alignments: a classifier writes no text to align");
  if (!o.intervene_file.empty()) throw UsageError("--intervene: it goes with a model that writes text");
  const std::vector<AttentionKind> kinds = kinds_of(o);
  const bool pooling = o.kind == "cross" || o.kind == "pooling";  // the label's own attention to the text
  const std::vector<std::filesystem::path> folders(o.models.begin(), o.models.end());
  const Classifier classifier(folders, o.load);
  if (o.saliency && o.models.size() > 1) {
    throw UsageError(fmt::format("--saliency: it goes with one model, {} are given", o.models.size()));
  }
  if (o.saliency && o.attention_file.empty()) {
    throw UsageError("--saliency: it goes with --attention, the file to write to");
  }
  if (!o.attention_file.empty() && !o.saliency && pooling && !classifier.config().attends()) {
    throw UsageError(fmt::format("--attention: {} has no attention to show", o.models[0]));
  }
  RunOutputs outputs(o, streams);
  SharedInput input(streams, kBlock);
  while (input.next()) {
    ClassifyOptions how{.saliency = o.saliency};
    if (outputs.wants_attention() && (o.all_heads || !pooling)) {
      how.kinds = o.kind == "cross" ? std::vector{AttentionKind::pooling} : kinds;
    }
    SharedInput::Outputs block;
    std::vector<AttentionRecord> records;
    for (const Classification& c : classifier.classify(input.lines(), how)) {
      if (o.scores || o.top > 0) {
        std::string line;
        for (const auto& [label, p] : c.ranked(static_cast<std::size_t>(o.top)))
          line += fmt::format("{}{}\t{:.6f}", line.empty() ? "" : "\t", label, p);
        block.out += line + '\n';
      } else {
        block.out += c.label + '\n';
      }
      if (outputs.wants_attention()) records.push_back(label_record(o, c));
    }
    outputs.write(input, std::move(block), records);
  }
  outputs.commit();
}

// A model of pictures: a line is a picture's place, the output its caption. A picture that cannot be read is a warning
// and an empty line.
void run_captioner(const Options& o, const Streams& streams) {
  if (o.models.size() > 1) {
    throw UsageError(fmt::format("--model: a model of pictures works alone, {} are given", o.models.size()));
  }
  if (!o.alignments_file.empty()) throw UsageError("--alignments: a picture has no tokens to align");
  if (!o.intervene_file.empty()) throw UsageError("--intervene: it does not go with a model of pictures");
  check_usage(o);
  if (o.how.replace_unknown) throw UsageError("--replace-unknown: a picture has no words to take instead");
  const Captioner captioner(o.models[0], o.load);
  CaptionOptions how{.beam = o.how.beam,
                     .length_penalty = o.how.length_penalty,
                     .n_best = o.how.n_best,
                     .min_length = o.how.min_length,
                     .no_repeat_ngram = o.how.no_repeat_ngram,
                     .sample = o.how.sample,
                     .temperature = o.how.temperature,
                     .top_k = o.how.top_k,
                     .top_p = o.how.top_p,
                     .seed = o.how.seed,
                     .attention = !o.attention_file.empty(),
                     .layer = o.how.layer,
                     .head = o.how.head,
                     .skip_broken = !o.strict};
  if (o.how.max_length > 0) how.max_length = o.how.max_length;
  if (o.traces()) how.kinds = kinds_of(o);
  if (how.attention && !captioner.config().attends()) {
    throw UsageError(fmt::format("--attention: {} has no attention to show", o.models[0]));
  }
  captioner.check(how);
  RunOutputs outputs(o, streams);
  SharedInput input(streams, kPictureBlock);
  while (input.next()) {
    how.first_line = input.first_line();
    SharedInput::Outputs block;
    std::vector<AttentionRecord> records;
    for (const auto& best : captioner.captions(input.lines(), how)) {
      if (!best[0].error.empty()) block.err += fmt::format("warning: {}\n", best[0].error);
      for (const Caption& c : best) {
        if (o.scores) block.out += fmt::format("{:.4f}\t", c.score);
        block.out += c.text + '\n';
        if (!outputs.wants_attention()) continue;
        records.push_back(o.traces() && !c.tokens.empty() ? asked_kind(o, c.record()) : c.record());
      }
    }
    outputs.write(input, std::move(block), records);
  }
  outputs.commit();
}

void run_model(const Options& o, const Streams& streams) {
  const ModelConfig first = read_model_config(o.models[0]);
  if (first.task() == Task::caption) return run_captioner(o, streams);
  if (o.strict) throw UsageError("--strict: it goes with a model of pictures");
  if (first.task() == Task::complete) return run_completer(o, streams);
  if (first.task() == Task::classify) return run_classifier(o, streams);
  if (o.top > 0) throw UsageError("--top: it goes with a classifier");
  if (o.saliency) throw UsageError("--saliency: it goes with a classifier");
  TranslateOptions how = o.how;
  how.attention = !o.attention_file.empty() || !o.alignments_file.empty();
  how.scores = o.scores;
  check_usage(o);
  const std::vector<std::filesystem::path> folders(o.models.begin(), o.models.end());
  const Translator translator(folders, o.load);
  if (o.traces()) how.kinds = kinds_of(o);
  translator.check(how);
  InterventionsFile interventions;
  if (!o.intervene_file.empty()) interventions = parse_interventions(read_text(o.intervene_file), o.intervene_file);
  if ((o.needs_cross() || !o.alignments_file.empty()) && !translator.attends()) {
    throw UsageError(fmt::format("{}: {} has no attention to show", o.needs_cross() ? "--attention" : "--alignments",
                                 fmt::join(o.models, " with ")));
  }
  // Opened first: what cannot be written is said before the work, not after it.
  RunOutputs outputs(o, streams);
  SharedInput input(streams, o.traces() ? kTraceBlock : kBlock);
  while (input.next()) {
    const std::vector<std::string>& lines = input.lines();
    how.first_line = input.first_line();
    std::vector<std::vector<Translation>> results = interventions.all.empty()
                                                        ? translator.translate(lines, how)
                                                        : with_interventions(translator, lines, how, interventions);
    SharedInput::Outputs block;
    std::vector<AttentionRecord> records;
    for (const std::vector<Translation>& of_line : results) {
      for (const Translation& t : of_line) {
        if (o.scores) block.out += fmt::format("{:.4f}\t", t.score);
        block.out += t.text + '\n';
        if (!o.alignments_file.empty()) block.alignments += alignment_text(t) + '\n';
        if (outputs.wants_attention()) records.push_back(attention_record(o, t));
      }
    }
    outputs.write(input, std::move(block), records, o.lists_heads());
  }
  outputs.commit();
}

}  // namespace

void add_run(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("run", "read lines, write what the model makes of them");
  const auto o = std::make_shared<Options>();
  TranslateOptions& s = o->how;
  sub->add_option("--model", o->models,
                  "the model folder; several write each output together, by the mean of their probabilities")
      ->required()
      ->allow_extra_args(false);
  sub->add_option("--beam", s.beam, "hypotheses kept; 1: greedy");
  sub->add_option("--length-penalty", s.length_penalty, "rank by log-probability / length^X");
  sub->add_option("--coverage-penalty", s.coverage_penalty, "punish source tokens that got little attention");
  sub->add_option("--n-best", s.n_best, "outputs per line, each on a line of its own");
  sub->add_option("--min-length", s.min_length, "tokens before the end of sequence may come");
  sub->add_option("--max-length", s.max_length, "most tokens; 0: twice the source and 20, of a language model 50");
  sub->add_option("--no-repeat-ngram", s.no_repeat_ngram, "no N tokens in a row occur twice; 0: they may");
  sub->add_option("--repetition-penalty", s.repetition_penalty,
                  "the log-probability of a token that was written already times this; 1: as it is");
  sub->add_flag("--sample", s.sample, "sample each token instead of taking the best");
  sub->add_option("--temperature", s.temperature, "of the sampling");
  sub->add_option("--top-k", s.top_k, "sample among the N likeliest; 0: all");
  sub->add_option("--top-p", s.top_p, "sample among the likeliest with this probability together");
  sub->add_option("--seed", s.seed, "of the sampling")->check(whole_number());
  sub->add_flag("--replace-unknown", s.replace_unknown, "write the source token an unknown one attended to most");
  sub->add_flag("--scores", o->scores,
                "score, tab, output; of a classifier, every label and its probability, best first");
  sub->add_option("--top", o->top, "the N likeliest labels and their probabilities (classifier)")
      ->check(CLI::Range(1, 1 << 20));
  sub->add_flag("--strict", o->strict, "end at the first picture that cannot be read, instead of a warning");
  sub->add_option("--attention", o->attention_file, "file for source, target and weights, as JSON lines");
  sub->add_flag("--saliency", o->saliency,
                "also what each token says for and against the 10 likeliest labels, by gradient times input, into "
                "--attention (classifier)");
  auto* kind =
      sub->add_option(
             "--kind", o->kind,
             "whose attention: cross (target to source), encoder (source to itself), decoder (target to itself), "
             "pooling (of a classifier) or all, which also writes every layer and head")
          ->capture_default_str();
  sub->add_option("--top-weights", s.top_weights,
                  "with --kind or --all-heads: only the N largest weights of each query; default: all, and 32 of lines "
                  "over 1,024 tokens")
      ->check(CLI::Range(1, 1 << 20));
  sub->add_option("--intervene", o->intervene_file,
                  "file of edges cut or forced, heads silenced, tokens masked or swapped while the model runs (JSON)");
  sub->add_option("--alignments", o->alignments_file, "pairs i-j: source token i, target token j");
  sub->add_option("--layer", s.layer, "attention of this decoder layer; default: the mean of all")
      ->check(whole_number(1000));
  sub->add_option("--head", s.head, "attention of this head; default: the mean of all")->check(whole_number(1000));
  sub->add_flag("--all-heads", o->all_heads, "write every layer and head to --attention too, a line at a time");
  sub->add_flag("--words", s.merge_words, "attention and alignments between words instead of tokens");
  sub->add_option("--batch-tokens", s.batch_tokens, "source tokens decoded together at most")
      ->check(CLI::Range(1, 100000000));
  add_type(*sub, o->load);
  sub->add_flag("--shortlist", o->load.shortlist, "write only tokens that the folder's shortlist has for a line's own");
  sub->add_option("--threads", o->threads, "default: all cores");
  sub->callback([o, streams, kind] {
    if (o->threads != 0) set_threads(o->threads);
    o->kind_given = kind->count() > 0;
    run_model(*o, streams);
  });
}

}  // namespace fovea::cli
