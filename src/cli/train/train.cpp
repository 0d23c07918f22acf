// fovea train --model DIR --source FILE --target FILE [--valid-source FILE --valid-target FILE] [options]
// fovea train --model DIR --pairs FILE.tsv [--columns A,B] [options]
//
// Trains a model on two files of text, line by line translations of each other, or on two columns of one file. Lines to
// validate on are held out unless they are given. Every option can stand in --config FILE.toml under the same name; the
// command line wins. Interrupting writes a checkpoint; --resume goes on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/options/field_options.hpp"
#include "cli/options/precision.hpp"
#include "cli/options/whole_number.hpp"
#include "cli/train/model_options.hpp"
#include "cli/train/train_options.hpp"
#include "cli/train/training_screen.hpp"
#include "fovea/error.hpp"
#include "fovea/processes.hpp"
#include "fovea/threads.hpp"
#include "tasks/training/names.hpp"
#include "text/languages.hpp"

namespace fovea::cli {
namespace {

struct Flags {
  ModelOptions model;
  std::string tokenizer = "sentencepiece", schedule = "inverse-sqrt", validate_by = "loss", precision = "fp32",
              optimizer = "adam", task = "generate", columns, config_file;
  int threads = 0;
  double rank_timeout = 1800;
};

// The two numbers of "A,B".
std::array<int, 2> columns_of(const std::string& text) {
  std::array<int, 2> columns{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 2; ++i) {
    const auto [next, trouble] = std::from_chars(at, end, columns[static_cast<std::size_t>(i)]);
    const bool last = i == 1;
    if (trouble != std::errc() || (last ? next != end : next == end || *next != ',')) {
      throw UsageError(fmt::format("--columns: \"{}\" is not two numbers, as in 1,2", text));
    }
    at = next + (last ? 0 : 1);
  }
  if (columns == std::array<int, 2>{0, 0}) throw UsageError("--columns: they are counted from 1");
  return columns;
}

// What is left to the text: all that no option says.
void set_automatic(TrainingJob& job, const CLI::App& command) {
  const auto given = [&command](const char* option) { return !command.get_option(option)->empty(); };
  const char* const sizes[] = {"--preset",         "--arch", "--encoder", "--decoder", "--layers",
                               "--decoder-layers", "--dim",  "--ffn",     "--heads",   "--embedding"};
  job.automatic.size = std::none_of(std::begin(sizes), std::end(sizes), given);
  job.automatic.vocabulary = !given("--vocab");
  job.automatic.batch_tokens = !given("--batch-tokens");
  // Chosen on Multi30k, 150 steps: a validation loss of 4.20, with a tenth 4.47.
  if (!given("--warmup")) job.options.warmup_share = 0.3;
}

TokenizerKind tokenizer_of(const std::string& name) {
  try {
    return tokenizer_kind(name);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--tokenizer: {}, or a SentencePiece .model file", error.what()));
  }
}

// The subcommand. With an observer, it sees the training instead of the screen, and interrupts are its own business.
void add_training(CLI::App& app, const Streams& streams, TrainingObserver* observer, Trainer::End* ended) {
  auto* sub = app.add_subcommand("train", "train a model on text: two files, or two columns of one");
  const auto job = std::make_shared<TrainingJob>();
  const auto f = std::make_shared<Flags>();
  sub->add_option("--model", job->model, "folder to leave the model in")->required();
  sub->add_option("--source", job->source,
                  "training text, plain or .gz, one sentence per line; for --task caption pictures, each a path or "
                  "INDEX.tsv#NAME");
  sub->add_option("--target", job->target,
                  "its translation, line by line; for --task classify its labels, or left out when lines of --source "
                  "begin with __label__X");
  sub->add_option("--pairs", job->pairs,
                  "both in one file, plain or .gz: source, tab, target (or label); instead of --source and --target");
  sub->add_option("--columns", f->columns, "which columns of --pairs, when there are more than two, as in 1,2")
      ->type_name("A,B");
  sub->add_option("--valid-source", job->valid_source,
                  "text to validate on; without it one line in 20, at most 1000, is held out");
  sub->add_option("--valid-target", job->valid_target, "its translation, or labels");
  sub->add_option("--valid-pairs", job->valid_pairs, "both in one file, with the same columns as --pairs");
  sub->add_option("--config", f->config_file, "TOML file with options under their names; the command line wins");
  sub->add_option(
      "--task", f->task,
      "generate: text to text; classify: text to a label; chat: turns, separated by tabs, to a reply; caption: "
      "a picture to text");
  sub->add_option("--languages", job->config.languages, "what the model translates, as in en-de");
  sub->add_flag("--resume", job->resume, "go on from the checkpoint in the model folder, if there is one");
  sub->add_flag("--overwrite", job->overwrite, "start anew in a folder that holds a model");
  add_model_options(*sub, f->model, *job);

  const char* group = "Text";
  sub->add_option("--tokenizer", f->tokenizer, "sentencepiece, word, char, or a SentencePiece .model file")
      ->group(group);
  sub->add_flag("--bpe", job->bpe, "SentencePiece with byte-pair encoding instead of a unigram model")->group(group);
  sub->add_option("--vocab", job->vocabulary, "size of each vocabulary")
      ->group(group)
      ->default_str("by the text, at most 8000");
  sub->add_option("--min-count", job->min_count, "words or characters seen less often are unknown")->group(group);
  sub->add_flag("--shared-vocab", job->shared_vocabulary, "one vocabulary for both sides")->group(group);
  sub->add_option(
         "--subword-sampling", job->subword_sampling,
         "segment the training text in another way each epoch: byte pairs leave out so large a share of merges, a "
         "unigram model samples by probabilities to this power; 0: always the same segmentation")
      ->group(group);
  sub->add_option("--max-length", job->max_length, "leave out pairs with more tokens")->group(group);
  sub->add_option("--stream", job->stream,
                  "a folder for the encoded text to train on, when that is too large for memory: it is then read from "
                  "there, some at a time")
      ->type_name("DIR")
      ->group(group);
  sub->add_option("--stream-memory", job->stream_memory, "MiB of the folder that are in memory at a time")
      ->group(group);

  group = "Training";
  TrainOptions& o = job->options;
  sub->add_option("--max-steps", o.max_steps, "end after so many steps; 0: no limit")->group(group);
  sub->add_option("--max-epochs", o.max_epochs,
                  "end after so many passes over the text; 20 if there is no limit at all")
      ->group(group);
  sub->add_option("--max-minutes", o.max_minutes, "end after so many minutes; 0: no limit")->group(group);
  sub->add_option("--batch-tokens", o.batch_tokens, "tokens of the longer side per step")
      ->group(group)
      ->default_str("by the text, 256 to 2048");
  sub->add_option("--micro-tokens", o.micro_tokens, "target tokens a thread works on at a time")->group(group);
  sub->add_option("--accumulate", o.accumulate, "batches whose gradients are summed for one step")->group(group);
  sub->add_option("--replicas", o.replicas,
                  "copies of the model that share a batch, each on one thread at a time; with a number given, any "
                  "number of threads leaves the same bytes; 0: one per thread")
      ->group(group);
  sub->add_option("--checkpoint-every", o.checkpoint_every, "steps between checkpoints, each of which is validated")
      ->group(group);
  sub->add_option("--keep-checkpoints", job->keep_checkpoints,
                  "keep N models along the way, spread over the training, to look at with fovea compare")
      ->check(CLI::Range(0, 10000))
      ->group(group);
  sub->add_option("--report-every", o.report_every, "steps between reports")->group(group);
  sub->add_option("--dropout", o.dropout, "share of the embeddings' and layers' outputs dropped")->group(group);
  sub->add_option("--attention-dropout", o.attention_dropout, "of attention weights (transformer)")->group(group);
  sub->add_option("--inner-dropout", o.inner_dropout, "inside feed-forward layers (transformer)")->group(group);
  sub->add_option("--label-smoothing", o.label_smoothing, "probability spread over all tokens")->group(group);
  sub->add_option("--r-drop", o.r_drop,
                  "every pair twice under two dropout masks, whose predictions are pulled together with this weight; "
                  "3 to 5 are usual, 0: off")
      ->group(group);
  sub->add_option("--coverage-loss", o.coverage_loss,
                  "weight of attending again to the same words of the source, which makes outputs repeat; 0: off")
      ->group(group);
  sub->add_option("--coverage-after", o.coverage_after,
                  "when that begins: below 1 a share of the training, from 1 on a step")
      ->group(group);
  auto* rate = sub->add_option("--learning-rate", o.schedule.peak, "largest learning rate");
  rate->group(group)->default_str("as usual for the model");
  sub->add_option("--warmup", o.schedule.warmup, "steps until it is reached")
      ->group(group)
      ->default_str("1000, at most 30% of the training");
  sub->add_option("--schedule", f->schedule, "inverse-sqrt, cosine, linear, plateau or constant")->group(group);
  sub->add_option("--optimizer", f->optimizer, "adam or adamw")->group(group);
  sub->add_option("--beta1", o.adam.beta1, "decay of Adam's mean of the gradients")->group(group);
  sub->add_option("--beta2", o.adam.beta2, "decay of Adam's mean of their squares")->group(group);
  sub->add_option("--epsilon", o.adam.epsilon, "Adam's epsilon")->group(group);
  sub->add_option("--weight-decay", o.adam.weight_decay, "adamw's decay")->group(group);
  sub->add_option("--clip", o.adam.clip, "largest norm of the gradient; 0: none")->group(group);
  sub->add_option("--validate", f->validate_by, "which checkpoint is best: by loss, bleu, rouge (ROUGE-L) or accuracy")
      ->group(group);
  sub->add_option("--patience", o.patience, "end after so many validations without improvement; 0: never")
      ->group(group);
  sub->add_option("--average", o.average, "validate and save the mean of the last N checkpoints")->group(group);
  sub->add_option("--ema", o.adam.ema, "or an exponential mean with this decay")->group(group);
  sub->add_option("--seed", o.seed, "of everything random")->group(group)->check(whole_number());
  sub->add_option("--precision", f->precision,
                  "of matrix products: fp32, or bf16, which CPUs with AMX tiles multiply several times as fast")
      ->group(group);
  sub->add_option("--threads", f->threads, "0: all cores")->group(group);
  sub->add_option("--rank-timeout", f->rank_timeout, "seconds that a process started by mpirun waits for another")
      ->group(group)
      ->check(CLI::Range(1.0, 1e9));

  sub->callback([job, f, streams, rate, sub, observer, ended] {
    job->task = enum_value<Task>(f->task, "--task");
    if (job->task != Task::chat && (!f->model.turns.empty() || f->model.max_turns)) {
      throw UsageError(fmt::format("{}: it goes with --task chat", f->model.turns.empty() ? "--max-turns" : "--turns"));
    }
    if (job->task != Task::caption) {
      for (const char* option : {"--picture-encoder", "--picture-weights", "--freeze", "--picture-size",
                                 "--picture-channels", "--picture-blocks", "--doubly-stochastic"}) {
        if (sub->count(option) > 0) throw UsageError(fmt::format("{}: it goes with --task caption", option));
      }
    }
    if (!f->columns.empty()) job->columns = columns_of(f->columns);
    set_automatic(*job, *sub);
    const std::string languages = job->config.languages;
    if (!languages.empty() && !text::language_pair(languages)) {
      throw UsageError(fmt::format("--languages: \"{}\" is not a pair, as in en-de", languages));
    }
    job->config = model_config(f->model, job->task);
    job->config.languages = languages;
    job->options.schedule.kind = enum_value<ScheduleKind>(f->schedule, "--schedule");
    if (!rate->empty() && job->options.schedule.peak == 0) {  // which would stand for the usual one
      throw UsageError("--learning-rate: 0 given, more than 0 is needed");
    }
    if (f->optimizer != "adam" && f->optimizer != "adamw") {
      throw UsageError(fmt::format("--optimizer: \"{}\" is not one of adam, adamw", f->optimizer));
    }
    if (f->optimizer == "adamw" && job->options.adam.weight_decay == 0) job->options.adam.weight_decay = 0.01F;
    if (f->optimizer == "adam" && job->options.adam.weight_decay != 0) {
      throw UsageError("--weight-decay: it goes with --optimizer adamw");
    }
    if (f->tokenizer.ends_with(".model")) {
      job->tokenizer_model = f->tokenizer;
    } else {
      job->tokenizer = tokenizer_of(f->tokenizer);
    }
    if (job->bpe && (!job->tokenizer_model.empty() || job->tokenizer != TokenizerKind::sentencepiece)) {
      throw UsageError("--bpe: it goes with --tokenizer sentencepiece");
    }
    if (!(job->subword_sampling >= 0 && job->subword_sampling < 1)) {
      throw UsageError(fmt::format("--subword-sampling: {} is not from 0 to below 1", job->subword_sampling));
    }
    if (job->subword_sampling > 0 && job->tokenizer != TokenizerKind::sentencepiece) {
      throw UsageError(fmt::format("--subword-sampling: it goes with --tokenizer sentencepiece, not {}", f->tokenizer));
    }
    job->validate_by = enum_value<ValidateBy>(f->validate_by, "--validate");
    job->options.precision = precision_value(f->precision);
    if (f->threads != 0) set_threads(f->threads);
    set_process_timeout(f->rank_timeout);
    if (observer != nullptr) {
      *ended = train(*job, *observer);
      return;
    }
    const InterruptGuard guard;
    TrainingScreen screen(streams, *sub);
    const Trainer::End end = train(*job, screen);
    screen.done();
    const char* why = end == Trainer::End::limit      ? "done"
                      : end == Trainer::End::patience ? "done: validation no longer improves"
                                                      : "interrupted; --resume goes on";
    if (end == Trainer::End::limit) streams.err << screen.warning();
    streams.err << why << ": " << job->model.string() << '\n';
  });
}

}  // namespace

void add_train(CLI::App& app, const Streams& streams) {
  add_training(app, streams, nullptr, nullptr);
}

Trainer::End train_with_options(const std::vector<std::string>& options, TrainingObserver& observer) {
  std::istringstream in;
  std::ostringstream out;
  CLI::App app("", "fovea");
  Trainer::End ended = Trainer::End::limit;
  add_training(app, {in, out, out}, &observer, &ended);
  std::vector<std::string> arguments{"train"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  auto reversed = with_config(arguments, *app.get_subcommand("train"));
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw UsageError(in_words(error, *app.get_subcommand("train")));
  } catch (const UsageError& error) {
    throw UsageError(with_options(error.what(), *app.get_subcommand("train")));
  }
  return ended;
}

}  // namespace fovea::cli
