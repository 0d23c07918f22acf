// fovea train --model DIR --source FILE --target FILE --valid-source FILE --valid-target FILE [options]
//
// Trains an encoder-decoder on two files of text, line by line translations of each other. Every option can stand in
// --config FILE.toml under the same name; the command line wins. Interrupting writes a checkpoint; --resume goes on.
#include <fmt/format.h>

#include <csignal>
#include <optional>
#include <ostream>

#include "cli/command.hpp"
#include "cli/precision.hpp"
#include "cli/progress.hpp"
#include "cli/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "server/api/languages.hpp"
#include "tasks/training.hpp"

namespace fovea::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// While it lives, an interrupt asks the training to end in good order; a second one ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted = 0;
    const auto handler = [](int signal) {
      interrupted = 1;
      std::signal(signal, SIG_DFL);
    };
    before_int_ = std::signal(SIGINT, handler);
    before_term_ = std::signal(SIGTERM, handler);
  }
  ~InterruptGuard() {
    std::signal(SIGINT, before_int_);
    std::signal(SIGTERM, before_term_);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  void (*before_int_)(int);
  void (*before_term_)(int);
};

class Screen final : public TrainingObserver {
 public:
  explicit Screen(const Streams& streams) : out_(streams.err), bar_(streams.err, streams.err_is_terminal) {}

  void started(const std::vector<std::string>& notes) override {
    for (const auto& note : notes) out_ << note << '\n';
    out_ << std::flush;
  }
  void stepped(const TrainState& state, double progress) override {
    bar_.show(progress, state.seconds, fmt::format("step {}  {}", state.step, last_));
  }
  void reported(const TrainReport& r) override {
    last_ = fmt::format("loss {:.3f}  ppl {:.2f}  {:.0f} tokens/s", r.loss, r.perplexity, r.tokens_per_second);
    bar_.line(fmt::format("step {:>6}  epoch {:>3}  {}  rate {:.2e}  norm {:.2f}", r.state.step, r.state.epoch + 1,
                          last_, r.rate, r.gradient_norm),
              r.progress, r.state.seconds);
  }
  void validated(const TrainState& state, const Validation& v, bool best) override {
    bar_.print(fmt::format("step {:>6}  validation: {}{}", state.step, v.text, best ? "  (best)" : ""));
  }
  void samples(const std::vector<ValidationSample>& samples) override {
    for (const auto& s : samples) {
      bar_.print(
          fmt::format("    source     {}\n    reference  {}\n    output     {}", s.source, s.reference, s.output));
    }
  }
  bool wants_stop() override { return interrupted != 0; }
  void done() { bar_.clear(); }

 private:
  std::ostream& out_;
  ProgressBar bar_;
  std::string last_;
};

struct Flags {
  std::string preset, arch, encoder, decoder, norm, positions, cell, attention, form, local, tie,
      tokenizer = "sentencepiece";
  std::string schedule = "inverse-sqrt", validate_by = "loss", precision = "fp32", optimizer = "adam",
              task = "generate", config_file;
  std::optional<int> layers, decoder_layers, dim, embedding, ffn, heads, kernel, local_window, max_positions;
  int threads = 0;
  bool input_feeding = false, no_input_feeding = false, coverage = false, unidirectional = false,
       unscaled_embeddings = false;
};

template <class E>
void set_enum(E& field, const std::string& text, const char* option) {
  if (!text.empty()) field = enum_value<E>(text, option);
}
void set_int(int& field, std::optional<int> value) {
  if (value) field = *value;
}

// Options after a preset change it.
ModelConfig model_config(const Flags& f) {
  ModelConfig c = preset(f.preset.empty() ? (f.arch == "rnn"   ? "rnn-bahdanau"
                                             : f.arch == "cnn" ? "cnn"
                                                               : "transformer-tiny")
                                          : f.preset);
  set_enum(c.encoder, f.arch, "--arch");
  set_enum(c.decoder, f.arch, "--arch");
  set_enum(c.encoder, f.encoder, "--encoder");
  set_enum(c.decoder, f.decoder, "--decoder");
  set_enum(c.norm, f.norm, "--norm");
  set_enum(c.positions, f.positions, "--positions");
  set_enum(c.cell, f.cell, "--cell");
  set_enum(c.attention, f.attention, "--attention");
  set_enum(c.form, f.form, "--form");
  set_enum(c.local, f.local, "--local");
  set_enum(c.tie, f.tie, "--tie");
  set_int(c.layers, f.layers);
  set_int(c.decoder_layers, f.decoder_layers);
  set_int(c.dim, f.dim);
  set_int(c.embedding, f.embedding);
  set_int(c.ffn, f.ffn);
  set_int(c.heads, f.heads);
  set_int(c.kernel, f.kernel);
  set_int(c.local_window, f.local_window);
  set_int(c.max_positions, f.max_positions);
  // A transformer's embeddings are as wide as its states; a preset's other width gives way.
  const bool transformer = c.encoder == Arch::transformer || c.decoder == Arch::transformer;
  if (!f.embedding && (transformer || f.dim)) c.embedding = 0;
  if (f.input_feeding) {
    c.input_feeding = true;
    if (f.form.empty()) c.form = RnnForm::luong;
  }
  if (f.no_input_feeding) c.input_feeding = false;
  if (f.coverage) c.coverage = true;
  if (f.unidirectional) c.bidirectional = false;
  if (f.unscaled_embeddings) c.scaled_embeddings = false;
  if (c.attention == RnnAttention::none && f.local.empty()) c.local = LocalKind::none;
  // Only RNNs choose their score: what would change nothing is not taken for granted.
  const bool possible = c.decoder == Arch::rnn || c.attention == RnnAttention::scaled_dot ||
                        (c.decoder == Arch::transformer && c.attention == RnnAttention::dot);
  if (!f.attention.empty() && !possible) {
    throw UsageError(fmt::format("--attention: a {} decoder's is scaled-dot{}, not {}; --decoder rnn has every score",
                                 enum_text(c.decoder), c.decoder == Arch::transformer ? " or dot" : "", f.attention));
  }
  return c;
}

TokenizerKind tokenizer_of(const std::string& name) {
  try {
    return tokenizer_kind(name);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--tokenizer: {}, or a SentencePiece .model file", error.what()));
  }
}

ScheduleKind schedule_kind(const std::string& name) {
  if (name == "inverse-sqrt") return ScheduleKind::inverse_sqrt;
  if (name == "cosine") return ScheduleKind::cosine;
  if (name == "plateau") return ScheduleKind::plateau;
  if (name == "constant") return ScheduleKind::constant;
  throw UsageError(fmt::format("--schedule: \"{}\" is not one of inverse-sqrt, cosine, plateau, constant", name));
}

ValidateBy validate_by(const std::string& name) {
  if (name == "loss") return ValidateBy::loss;
  if (name == "bleu") return ValidateBy::bleu;
  if (name == "accuracy") return ValidateBy::accuracy;
  throw UsageError(fmt::format("--validate: \"{}\" is not one of loss, bleu, accuracy", name));
}

}  // namespace

void add_train(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("train", "train an encoder-decoder on two files of text");
  const auto job = std::make_shared<TrainingJob>();
  const auto f = std::make_shared<Flags>();
  sub->add_option("--model", job->model, "folder to leave the model in")->required();
  sub->add_option("--source", job->source, "training text, plain or .gz, one sentence per line")->required();
  sub->add_option("--target", job->target, "its translation, line by line")->required();
  sub->add_option("--valid-source", job->valid_source, "text to validate on")->required();
  sub->add_option("--valid-target", job->valid_target, "its translation")->required();
  sub->add_option("--config", f->config_file, "TOML file with options under their names; the command line wins");
  sub->add_option("--task", f->task, "generate: text to text");
  sub->add_option("--languages", job->config.languages, "what the model translates, as in en-de");
  sub->add_flag("--resume", job->resume, "go on from the checkpoint in the model folder, if there is one");
  sub->add_flag("--overwrite", job->overwrite, "start anew in a folder that holds a model");

  const char* group = "Model";
  sub->add_option("--preset", f->preset, fmt::format("one of {} (transformer-tiny)", fmt::join(preset_names(), ", ")))
      ->group(group);
  sub->add_option("--arch", f->arch, "rnn, cnn or transformer, for both sides")->group(group);
  sub->add_option("--encoder", f->encoder, "rnn, cnn or transformer")->group(group);
  sub->add_option("--decoder", f->decoder, "rnn, cnn or transformer")->group(group);
  sub->add_option("--layers", f->layers, "layers of each side")->group(group);
  sub->add_option("--decoder-layers", f->decoder_layers, "layers of the decoder, when they differ")->group(group);
  sub->add_option("--dim", f->dim, "width of the states")->group(group);
  sub->add_option("--embedding", f->embedding, "width of the embeddings")->group(group);
  sub->add_option("--ffn", f->ffn, "inner width of the feed-forward layers (transformer)")->group(group);
  sub->add_option("--heads", f->heads, "attention heads (transformer)")->group(group);
  sub->add_option("--norm", f->norm, "pre or post (transformer)")->group(group);
  sub->add_option("--positions", f->positions, "sinusoidal, learned, rotary, rotary-cross or alibi (transformer)")
      ->group(group);
  sub->add_option("--max-positions", f->max_positions, "length of a learned table of positions")->group(group);
  sub->add_option("--cell", f->cell, "gru or lstm (rnn)")->group(group);
  sub->add_flag("--unidirectional", f->unidirectional, "encode left to right only (rnn)")->group(group);
  sub->add_option(
         "--attention", f->attention,
         "additive, dot, scaled-dot, general, concat, location, cosine or none (rnn decoder); scaled-dot or dot "
         "(transformer); scaled-dot (cnn)")
      ->group(group);
  sub->add_option("--form", f->form, "bahdanau, luong or conditional (rnn decoder)")->group(group);
  sub->add_flag(
         "--input-feeding", f->input_feeding,
         "feed the attentional state back (rnn decoder; in the luong form, which it takes unless --form is given)")
      ->group(group);
  sub->add_flag("--no-input-feeding", f->no_input_feeding, "do not, whatever the preset says")->group(group);
  sub->add_option("--local", f->local, "monotonic or predictive: look only near a centre (rnn decoder)")->group(group);
  sub->add_option("--local-window", f->local_window, "how far from the centre")->group(group);
  sub->add_flag("--coverage", f->coverage, "tell the score what was looked at before (rnn decoder)")->group(group);
  sub->add_option("--kernel", f->kernel, "width of the convolutions (cnn)")->group(group);
  sub->add_option("--tie", f->tie, "share embeddings: none, target (with the output) or all")->group(group);
  sub->add_flag("--unscaled-embeddings", f->unscaled_embeddings,
                "do not multiply embeddings by the root of their width, without which they start small (rnn)")
      ->group(group);

  sub->option_defaults()->always_capture_default();  // shown by --help; the model's are the preset's
  group = "Text";
  sub->add_option("--tokenizer", f->tokenizer, "sentencepiece, word, char, or a SentencePiece .model file")
      ->group(group);
  sub->add_flag("--bpe", job->bpe, "SentencePiece with byte-pair encoding instead of a unigram model")->group(group);
  sub->add_option("--vocab", job->vocabulary, "size of each vocabulary")->group(group);
  sub->add_option("--min-count", job->min_count, "words or characters seen less often are unknown")->group(group);
  sub->add_flag("--shared-vocab", job->shared_vocabulary, "one vocabulary for both sides")->group(group);
  sub->add_option("--subword-sampling", job->subword_sampling,
                  "cut the training text in another way each epoch: byte pairs leave out so large a share of merges, a "
                  "unigram model draws by probabilities to this power; 0: always the same cut")
      ->group(group);
  sub->add_option("--max-length", job->max_length, "leave out pairs with more tokens")->group(group);

  group = "Training";
  TrainOptions& o = job->options;
  sub->add_option("--max-steps", o.max_steps, "end after so many steps; 0: no limit")->group(group);
  sub->add_option("--max-epochs", o.max_epochs,
                  "end after so many passes over the text; 20 if there is no limit at all")
      ->group(group);
  sub->add_option("--max-minutes", o.max_minutes, "end after so many minutes; 0: no limit")->group(group);
  sub->add_option("--batch-tokens", o.batch_tokens, "target tokens per step")->group(group);
  sub->add_option("--micro-tokens", o.micro_tokens, "target tokens a thread works on at a time")->group(group);
  sub->add_option("--accumulate", o.accumulate, "batches whose gradients are summed for one step")->group(group);
  sub->add_option("--replicas", o.replicas,
                  "copies of the model that share a batch, each on one thread at a time; with a number given, any "
                  "number of threads leaves the same bytes; 0: one per thread")
      ->group(group);
  sub->add_option("--checkpoint-every", o.checkpoint_every, "steps between checkpoints, each of which is validated")
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
  auto* rate = sub->add_option("--learning-rate", o.schedule.peak, "largest learning rate");
  rate->group(group)->default_str("as usual for the model");
  sub->add_option("--warmup", o.schedule.warmup, "steps until it is reached")->group(group);
  sub->add_option("--schedule", f->schedule, "inverse-sqrt, cosine, plateau or constant")->group(group);
  sub->add_option("--optimizer", f->optimizer, "adam or adamw")->group(group);
  sub->add_option("--beta1", o.beta1, "Adam's memory of gradients")->group(group);
  sub->add_option("--beta2", o.beta2, "Adam's memory of their squares")->group(group);
  sub->add_option("--epsilon", o.epsilon, "Adam's epsilon")->group(group);
  sub->add_option("--weight-decay", o.weight_decay, "adamw's decay")->group(group);
  sub->add_option("--clip", o.clip, "largest norm of the gradient; 0: none")->group(group);
  sub->add_option("--validate", f->validate_by, "judge checkpoints by loss, bleu or accuracy")->group(group);
  sub->add_option("--patience", o.patience, "end after so many validations without improvement; 0: never")
      ->group(group);
  sub->add_option("--average", o.average, "validate and save the mean of the last N checkpoints")->group(group);
  sub->add_option("--ema", o.ema, "or an exponential mean with this decay")->group(group);
  sub->add_option("--seed", o.seed, "of everything random")->group(group)->check(whole_number());
  sub->add_option("--precision", f->precision,
                  "of matrix products: fp32, or bf16, which CPUs with AMX tiles multiply several times as fast")
      ->group(group);
  sub->add_option("--threads", f->threads, "0: all cores")->group(group);

  sub->callback([job, f, streams, rate] {
    if (f->task != "generate") {
      throw UsageError(fmt::format("--task: \"{}\" is not one of generate", f->task));
    }
    const std::string languages = job->config.languages;
    if (!languages.empty() && !server::language_pair(languages)) {
      throw UsageError(fmt::format("--languages: \"{}\" is not a pair, as in en-de", languages));
    }
    job->config = model_config(*f);
    job->config.languages = languages;
    job->options.schedule.kind = schedule_kind(f->schedule);
    if (rate->empty()) job->options.schedule.peak = usual_rate(job->config, job->options.schedule.warmup);
    job->options.schedule.last_step = job->options.max_steps;
    if (f->optimizer != "adam" && f->optimizer != "adamw") {
      throw UsageError(fmt::format("--optimizer: \"{}\" is not one of adam, adamw", f->optimizer));
    }
    if (f->optimizer == "adamw" && job->options.weight_decay == 0) job->options.weight_decay = 0.01F;
    if (f->optimizer == "adam" && job->options.weight_decay != 0) {
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
    job->validate_by = validate_by(f->validate_by);
    job->options.precision = precision_value(f->precision);
    if (f->threads != 0) set_threads(f->threads);
    const InterruptGuard guard;
    Screen screen(streams);
    const Trainer::End end = train(*job, screen);
    screen.done();
    const char* why = end == Trainer::End::limit      ? "done"
                      : end == Trainer::End::patience ? "done: validation no longer improves"
                                                      : "interrupted; --resume goes on";
    streams.err << why << ": " << job->model.string() << '\n';
  });
}

}  // namespace fovea::cli
