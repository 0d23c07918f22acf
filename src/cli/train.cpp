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
#include <csignal>
#include <optional>
#include <ostream>
#include <sstream>
#include <tuple>

#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/precision.hpp"
#include "cli/progress.hpp"
#include "cli/train_options.hpp"
#include "cli/whole_number.hpp"
#include "fovea/error.hpp"
#include "fovea/processes.hpp"
#include "fovea/threads.hpp"
#include "fovea/training_job.hpp"
#include "tasks/training/names.hpp"
#include "text/languages.hpp"

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
  Screen(const Streams& streams, const CLI::App& command)
      : out_(streams.err), command_(command), bar_(streams.err, streams.err_is_terminal) {}

  void started(const std::vector<std::string>& notes) override {
    for (const auto& note : notes) out_ << with_options(note, command_, FieldsIn::backticks) << '\n';
    out_ << std::flush;
  }
  void stepped(const TrainState& state, double progress) override {
    state_ = state;
    bar_.show(progress, state.seconds, fmt::format("step {}  {}", state.step, last_));
  }
  void reported(const TrainReport& r) override {
    last_ = fmt::format("loss {:.3f}  ppl {:.2f}  {:.0f} tokens/s", r.loss, r.perplexity, r.tokens_per_second);
    const std::string skipped =
        r.state.skipped > 0 ? fmt::format("  {} steps skipped: not finite", r.state.skipped) : "";
    bar_.line(fmt::format("step {:>6}  epoch {:>3}  {}  rate {:.2e}  norm {:.2f}{}", r.state.step, r.state.epoch + 1,
                          last_, r.rate, r.gradient_norm, skipped),
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
  /// What the user should know of a training that has ended; empty when there is nothing.
  [[nodiscard]] std::string warning() const {
    if (state_.step == 0 || state_.step >= state_.warmup) return {};
    return fmt::format(
        "warning: it ended inside its warm-up, after {} of {} steps, before the learning rate reached its largest "
        "value; train longer, or give a smaller --warmup\n",
        state_.step, state_.warmup);
  }

 private:
  std::ostream& out_;
  const CLI::App& command_;
  ProgressBar bar_;
  std::string last_;
  TrainState state_;
};

struct Flags {
  std::string picture_encoder = "small", attention_kind;
  std::optional<int> picture_size, picture_channels, picture_blocks;
  std::string preset, pooling, arch, encoder, decoder, norm, positions, activation, cell, attention, form, local, tie,
      turns, tokenizer = "sentencepiece";
  std::string schedule = "inverse-sqrt", validate_by = "loss", precision = "fp32", optimizer = "adam",
              task = "generate", columns, config_file;
  std::string char_ngrams, separator;
  std::optional<int> word_ngrams, buckets, sentence_dim, max_turns, hidden, hops, layers, decoder_layers, dim,
      embedding, ffn, heads, kernel, local_window, max_positions;
  int threads = 0;
  double rank_timeout = 1800;
  bool input_feeding = false, no_input_feeding = false, coverage = false, unidirectional = false,
       unscaled_embeddings = false, copy = false;
};

// Calls set(part) for the encoder and the decoder; it says whether the part has what the option sets. Throws when none
// has: an option that would change nothing is a mistake.
template <class Set>
void set_parts(ModelConfig& c, const char* option, const Set& set) {
  const bool in_encoder = std::visit(set, c.encoder);
  if (auto* classifier = std::get_if<ClassifierConfig>(&c.head)) {
    if (in_encoder || set(*classifier)) return;
    throw UsageError(fmt::format("{}: neither a {} encoder nor {} pooling has it", option, kind_of(c.encoder),
                                 enum_text(classifier->pooling)));
  }
  DecoderConfig& decoder = c.generator().decoder;
  const bool in_decoder = std::visit(set, decoder);
  if (in_encoder || in_decoder) return;
  throw UsageError(
      fmt::format("{}: neither a {} encoder nor a {} decoder has it", option, kind_of(c.encoder), kind_of(decoder)));
}

// The part as another kind: layers and width stay.
template <class Part>
void change_kind(Part& part, Part (*of_kind)(std::string_view, std::string_view), const std::string& kind,
                 const char* option) {
  if (kind.empty() || kind == kind_of(part)) return;
  Part changed = of_kind(kind, option);
  std::visit(
      [&part](auto& c) {
        if constexpr (requires { c.layers = 1; }) c.layers = std::max(1, layers_of(part));
        c.dim = dim_of(part);
      },
      changed);
  part = changed;
}

#define FOVEA_SET_PARTS(config, option, field, value) \
  set_parts(config, option, [&](auto& part) {         \
    if constexpr (requires { part.field = value; }) { \
      part.field = value;                             \
      return true;                                    \
    } else {                                          \
      return false;                                   \
    }                                                 \
  })

// Which score: every one for an RNN decoder; a transformer divides its dot products or not.
void set_attention(ModelConfig& c, const std::string& name) {
  if (std::holds_alternative<ClassifierConfig>(c.head)) {
    throw UsageError("--attention: a classifier has --pooling");
  }
  const auto wanted = enum_value<RnnAttention>(name, "--attention");
  DecoderConfig& decoder = c.generator().decoder;
  if (auto* rnn = std::get_if<RnnDecoderConfig>(&decoder)) {
    rnn->attention = wanted;
    if (wanted == RnnAttention::none) rnn->local = LocalKind::none;
    return;
  }
  const bool transformer = std::holds_alternative<TransformerConfig>(decoder);
  const bool possible = wanted == RnnAttention::scaled_dot || (transformer && wanted == RnnAttention::dot);
  if (!possible) {
    throw UsageError(fmt::format("--attention: a {} decoder's is scaled-dot{}, not {}; --decoder rnn has every score",
                                 kind_of(decoder), transformer ? " or dot" : "", name));
  }
  if (transformer) FOVEA_SET_PARTS(c, "--attention", scaled_scores, wanted == RnnAttention::scaled_dot);
}

// A range of lengths, as in 3-5.
std::pair<int, int> char_range(const std::string& text) {
  int low = 0;
  int high = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, low);
  const bool dash = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
  const auto second =
      dash ? std::from_chars(first.ptr + 1, end, high) : std::from_chars_result{end, std::errc::invalid_argument};
  if (second.ec != std::errc() || second.ptr != end || low < 1 || high < low) {
    throw UsageError(fmt::format("--char-ngrams: \"{}\" is not a range of lengths, as in 3-5", text));
  }
  return {low, high};
}

// What only a classifier has: n-grams beside words, sentences.
void set_classifier(const Flags& f, ModelConfig& c) {
  const bool ngrams = f.word_ngrams || !f.char_ngrams.empty() || f.buckets;
  auto* head = std::get_if<ClassifierConfig>(&c.head);
  if (head == nullptr) {
    const char* option = f.word_ngrams            ? "--word-ngrams"
                         : !f.char_ngrams.empty() ? "--char-ngrams"
                         : f.buckets              ? "--buckets"
                         : f.sentence_dim         ? "--sentence-dim"
                         : !f.separator.empty()   ? "--separator"
                                                  : nullptr;
    if (option != nullptr) throw UsageError(fmt::format("{}: it goes with --task classify", option));
    return;
  }
  if ((f.sentence_dim || !f.separator.empty()) && head->pooling != Pooling::hierarchical) {
    throw UsageError(fmt::format("{}: it goes with --pooling hierarchical, not {}",
                                 f.sentence_dim ? "--sentence-dim" : "--separator", enum_text(head->pooling)));
  }
  if (f.sentence_dim) head->sentence_dim = *f.sentence_dim;
  head->separator = f.separator;
  if (!ngrams) return;
  if (!f.word_ngrams && f.char_ngrams.empty()) {
    throw UsageError("--buckets: it goes with --word-ngrams or --char-ngrams");
  }
  NgramSourceConfig source;
  source.word_ngrams = f.word_ngrams.value_or(1);
  if (!f.char_ngrams.empty()) std::tie(source.char_min, source.char_max) = char_range(f.char_ngrams);
  if (f.buckets) source.buckets = *f.buckets;
  c.source = source;
}

// Options after a preset change it.
ModelConfig model_config(const Flags& f) {
  ModelConfig c = preset(f.preset.empty() ? (f.arch == "rnn"   ? "rnn-bahdanau"
                                             : f.arch == "cnn" ? "cnn"
                                                               : "transformer-tiny")
                                          : f.preset);
  GeneratorConfig g = c.generator();  // until it is clear that the head is one
  change_kind(c.encoder, encoder_of_kind, f.arch, "--arch");
  change_kind(g.decoder, decoder_of_kind, f.arch, "--arch");
  change_kind(c.encoder, encoder_of_kind, f.encoder, "--encoder");
  change_kind(g.decoder, decoder_of_kind, f.decoder, "--decoder");
  const bool captions = f.task == "caption";
  // A caption's decoder attends to the regions themselves unless there is an encoder between; without any word on it,
  // it is that of Xu et al. 2015.
  if (captions && f.preset.empty()) {
    if (f.encoder.empty()) c.encoder = NoEncoderConfig{};
    const std::string kind = !f.decoder.empty() ? f.decoder : !f.arch.empty() ? f.arch : "rnn";
    g.decoder = decoder_of_kind(kind, "--decoder");  // with its own layers and width
    if (auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder)) rnn->form = RnnForm::gated;
  }
  const bool classifies = f.task == "classify";
  if (classifies) {
    if (!f.decoder.empty() || f.decoder_layers || !f.tie.empty()) {
      throw UsageError(fmt::format("{}: a classifier has no decoder", !f.decoder.empty() ? "--decoder"
                                                                      : f.decoder_layers ? "--decoder-layers"
                                                                                         : "--tie"));
    }
    c.head =
        ClassifierConfig{.pooling = f.pooling.empty() ? Pooling::learned : enum_value<Pooling>(f.pooling, "--pooling")};
  } else {
    if (!f.pooling.empty()) throw UsageError("--pooling: it goes with --task classify");
    c.head = g;
  }
  if (f.layers) FOVEA_SET_PARTS(c, "--layers", layers, *f.layers);
  if (f.decoder_layers && !classifies) {
    std::visit([&](auto& part) { part.layers = *f.decoder_layers; }, c.generator().decoder);
  }
  if (f.dim) FOVEA_SET_PARTS(c, "--dim", dim, *f.dim);
  if (f.hidden) FOVEA_SET_PARTS(c, "--hidden", hidden, *f.hidden);
  if (f.hops) FOVEA_SET_PARTS(c, "--hops", hops, *f.hops);
  set_classifier(f, c);
  if (f.ffn) FOVEA_SET_PARTS(c, "--ffn", ffn, *f.ffn);
  if (f.heads) FOVEA_SET_PARTS(c, "--heads", heads, *f.heads);
  if (f.kernel) FOVEA_SET_PARTS(c, "--kernel", kernel, *f.kernel);
  if (f.max_positions) FOVEA_SET_PARTS(c, "--max-positions", max_positions, *f.max_positions);
  if (f.local_window) FOVEA_SET_PARTS(c, "--local-window", local_window, *f.local_window);
  if (!f.norm.empty()) FOVEA_SET_PARTS(c, "--norm", norm, enum_value<Norm>(f.norm, "--norm"));
  if (!f.positions.empty()) {
    FOVEA_SET_PARTS(c, "--positions", positions, enum_value<Positions>(f.positions, "--positions"));
  }
  if (!f.activation.empty()) {
    FOVEA_SET_PARTS(c, "--activation", activation, enum_value<Activation>(f.activation, "--activation"));
  }
  if (!f.cell.empty()) FOVEA_SET_PARTS(c, "--cell", cell, enum_value<Cell>(f.cell, "--cell"));
  if (f.unidirectional) FOVEA_SET_PARTS(c, "--unidirectional", bidirectional, false);
  if (!f.attention.empty()) set_attention(c, f.attention);
  if (!f.form.empty()) FOVEA_SET_PARTS(c, "--form", form, enum_value<RnnForm>(f.form, "--form"));
  if (!f.local.empty()) FOVEA_SET_PARTS(c, "--local", local, enum_value<LocalKind>(f.local, "--local"));
  if (f.input_feeding) {
    FOVEA_SET_PARTS(c, "--input-feeding", input_feeding, true);
    if (f.form.empty()) FOVEA_SET_PARTS(c, "--input-feeding", form, RnnForm::luong);
  }
  if (f.no_input_feeding) FOVEA_SET_PARTS(c, "--no-input-feeding", input_feeding, false);
  if (f.coverage) FOVEA_SET_PARTS(c, "--coverage", coverage, true);
  if (!f.attention_kind.empty()) {
    const Focus focus = enum_value<Focus>(f.attention_kind, "--attention-kind");
    FOVEA_SET_PARTS(c, "--attention-kind", attention_kind, focus);
    if (f.form.empty() && focus == Focus::hard) FOVEA_SET_PARTS(c, "--attention-kind", form, RnnForm::gated);
  }
  if (captions) {
    PictureSourceConfig pictures;
    pictures.picture_encoder = enum_value<PictureEncoder>(f.picture_encoder, "--picture-encoder");
    pictures.picture_size = f.picture_size.value_or(pictures.picture_size);
    pictures.picture_channels = f.picture_channels.value_or(pictures.picture_channels);
    pictures.picture_blocks = f.picture_blocks.value_or(pictures.picture_blocks);
    auto* none = std::get_if<NoEncoderConfig>(&c.encoder);
    pictures.embedding = none != nullptr ? dim_of(c.generator().decoder) : dim_of(c.encoder);
    if (none != nullptr) none->dim = pictures.embedding;
    c.source = pictures;
    GeneratorConfig& head = c.generator();
    head.embedding = f.embedding.value_or(dim_of(head.decoder));
    if (!f.tie.empty()) head.tie = enum_value<Tie>(f.tie, "--tie");
    if (f.unscaled_embeddings) head.scaled_embeddings = false;
    return c;
  }
  // Embeddings are as wide as the states unless another width is given.
  c.tokens().embedding = f.embedding.value_or(dim_of(c.encoder));
  if (f.unscaled_embeddings) c.tokens().scaled_embeddings = false;
  if (std::holds_alternative<NoEncoderConfig>(c.encoder)) {
    std::get<NoEncoderConfig>(c.encoder).dim = c.tokens().embedding;
  }
  if (classifies && f.copy) throw UsageError("--copy: a classifier writes no words");
  if (classifies) return c;
  GeneratorConfig& head = c.generator();
  head.copy = f.copy;
  head.embedding = f.embedding.value_or(dim_of(head.decoder));
  if (f.task == "chat") {
    TurnSourceConfig turns;
    static_cast<TokenSourceConfig&>(turns) = c.tokens();
    if (!f.turns.empty()) turns.turns = enum_value<Turns>(f.turns, "--turns");
    if (f.max_turns) turns.max_turns = *f.max_turns;
    c.source = turns;
  }
  if (!f.tie.empty()) head.tie = enum_value<Tie>(f.tie, "--tie");
  if (f.unscaled_embeddings) head.scaled_embeddings = false;
  return c;
}
#undef FOVEA_SET_PARTS

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

  const char* group = "Model";
  sub->add_option("--turns", f->turns,
                  "flat: one sequence with turn embeddings; hierarchical: attention over words, then over turns (chat)")
      ->group(group);
  sub->add_option("--max-turns", f->max_turns, "turns that are read, the last ones (chat; 5)")->group(group);
  sub->add_option(
         "--preset", f->preset,
         fmt::format("one of {}; default: a transformer, its size by the text", fmt::join(preset_names(), ", ")))
      ->group(group);
  sub->add_option("--arch", f->arch, "rnn, cnn or transformer, for both sides")->group(group);
  sub->add_option("--encoder", f->encoder, "rnn, cnn or transformer, or none: the embeddings as they are")
      ->group(group);
  sub->add_option("--pooling", f->pooling, "learned, context, hops, hierarchical, mean, max or last (classifier)")
      ->group(group);
  sub->add_option("--hops", f->hops, "attentions side by side (pooling hops)")->group(group);
  sub->add_option("--hidden", f->hidden, "hidden units of pooling context, hops or hierarchical")->group(group);
  sub->add_option("--sentence-dim", f->sentence_dim, "units of the GRU over sentences; 0: none (pooling hierarchical)")
      ->group(group);
  sub->add_option("--separator", f->separator,
                  "what stands between sentences; without it they are found by their marks (pooling hierarchical)")
      ->group(group);
  sub->add_option("--word-ngrams", f->word_ngrams, "runs of up to N words have vectors too (classifier)")->group(group);
  sub->add_option("--char-ngrams", f->char_ngrams,
                  "runs of A to B characters of each word have vectors too, as in 3-5 (classifier)")
      ->group(group);
  sub->add_option("--buckets", f->buckets, "vectors that the n-grams share by their hashes (200000)")->group(group);
  sub->add_option("--vectors", job->vectors,
                  "word vectors to start with: GloVe's or fastText's text, word2vec's binary (classifier)")
      ->group(group);
  sub->add_option("--hops-penalty", job->hops_penalty,
                  "weight of the overlap of hops, so that they differ (pooling hops)")
      ->group(group);
  sub->add_option("--decoder", f->decoder, "rnn, cnn or transformer")->group(group);
  sub->add_option("--layers", f->layers, "layers of each side")->group(group);
  sub->add_option("--decoder-layers", f->decoder_layers, "layers of the decoder, when they differ")->group(group);
  sub->add_option("--dim", f->dim, "width of the states")->group(group);
  sub->add_option("--embedding", f->embedding, "width of the embeddings")->group(group);
  sub->add_option("--ffn", f->ffn, "inner width of the feed-forward layers (transformer)")->group(group);
  sub->add_option("--heads", f->heads, "attention heads (transformer)")->group(group);
  sub->add_option("--norm", f->norm, "pre or post (transformer)")->group(group);
  sub->add_option("--positions", f->positions,
                  "sinusoidal, timing-signal, learned, rotary, rotary-cross or alibi (transformer)")
      ->group(group);
  sub->add_option("--activation", f->activation, "relu, gelu or swish, inside feed-forward layers (transformer)")
      ->group(group);
  sub->add_option("--max-positions", f->max_positions, "length of a learned table of positions")->group(group);
  sub->add_option("--cell", f->cell, "gru or lstm (rnn)")->group(group);
  sub->add_flag("--unidirectional", f->unidirectional, "encode left to right only (rnn)")->group(group);
  sub->add_option(
         "--attention", f->attention,
         "additive, dot, scaled-dot, general, concat, location, cosine or none (rnn decoder); scaled-dot or dot "
         "(transformer); scaled-dot (cnn)")
      ->group(group);
  sub->add_option("--form", f->form, "bahdanau, luong, conditional or gated (rnn decoder)")->group(group);
  sub->add_option("--attention-kind", f->attention_kind,
                  "soft: the mean of what is attended to; hard: one place, sampled in training (gated form)")
      ->group(group);
  sub->add_flag(
         "--input-feeding", f->input_feeding,
         "feed the attentional state back (rnn decoder; in the luong form, which it takes unless --form is given)")
      ->group(group);
  sub->add_flag("--no-input-feeding", f->no_input_feeding, "do not, whatever the preset says")->group(group);
  sub->add_option("--local", f->local, "monotonic or predictive: attend only near a centre (rnn decoder)")
      ->group(group);
  sub->add_option("--local-window", f->local_window, "how far from the centre")->group(group);
  sub->add_flag("--coverage", f->coverage, "let the score know what was attended to before (rnn decoder)")
      ->group(group);
  sub->add_flag("--copy", f->copy, "words of the source can be copied, also those in no vocabulary (pointer-generator)")
      ->group(group);
  sub->add_option("--kernel", f->kernel, "width of the convolutions (cnn)")->group(group);
  sub->add_option("--tie", f->tie, "share embeddings: none, target (with the output) or all")->group(group);
  sub->add_flag("--unscaled-embeddings", f->unscaled_embeddings,
                "do not multiply embeddings by the root of their width, without which they start small (rnn)")
      ->group(group);

  group = "Pictures";
  sub->add_option("--picture-encoder", f->picture_encoder, "small: a CNN to train; squeezenet: SqueezeNet 1.1")
      ->group(group)
      ->capture_default_str();
  sub->add_option("--picture-weights", job->picture_weights,
                  "trained weights of squeezenet: a folder of .npy or a .safetensors file")
      ->group(group);
  sub->add_flag("--freeze", job->freeze, "do not train the picture encoder; its features are computed once")
      ->group(group);
  sub->add_option("--picture-size", f->picture_size, "pixels on a side that pictures are resized to (160)")
      ->group(group);
  sub->add_option("--picture-channels", f->picture_channels, "numbers per region that small gives (256)")->group(group);
  sub->add_option("--picture-blocks", f->picture_blocks, "residual blocks per resolution of small (1)")->group(group);
  sub->add_option("--doubly-stochastic", job->doubly_stochastic,
                  "weight of a loss that wants every region attended to by some word; 0: off")
      ->group(group)
      ->capture_default_str();
  sub->add_option("--attention-entropy", job->attention_entropy,
                  "weight of the entropy of hard attention, so that it goes on trying regions")
      ->group(group)
      ->capture_default_str();

  group = "Text";
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
  sub->add_option("--schedule", f->schedule, "inverse-sqrt, cosine, plateau or constant")->group(group);
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
    if (job->task != Task::chat && (!f->turns.empty() || f->max_turns)) {
      throw UsageError(fmt::format("{}: it goes with --task chat", f->turns.empty() ? "--max-turns" : "--turns"));
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
    job->config = model_config(*f);
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
    Screen screen(streams, *sub);
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
    throw UsageError(error.what());
  } catch (const UsageError& error) {
    throw UsageError(with_options(error.what(), *app.get_subcommand("train")));
  }
  return ended;
}

}  // namespace fovea::cli
