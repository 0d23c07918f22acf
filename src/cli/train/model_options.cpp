#include "cli/train/model_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "fovea/error.hpp"
#include "tasks/training/names.hpp"

namespace fovea::cli {
namespace {

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
void set_classifier(const ModelOptions& f, ModelConfig& c) {
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

}  // namespace

void set_decoder_self(ModelConfig& c, const std::string& name) {
  if (name.empty()) return;
  const auto self = enum_value<DecoderSelf>(name, "--decoder-self");
  DecoderConfig& decoder = c.generator().decoder;
  auto* transformer = std::get_if<TransformerConfig>(&decoder);
  if (transformer == nullptr) {
    throw UsageError(
        fmt::format("--decoder-self: only a transformer decoder has it, and this one is {}", kind_of(decoder)));
  }
  transformer->decoder_self = self;
}

// Options after a preset change it.
ModelConfig model_config(const ModelOptions& f, Task task) {
  ModelConfig c = preset(f.preset.empty() ? (f.arch == "rnn"   ? "rnn-bahdanau"
                                             : f.arch == "cnn" ? "cnn"
                                                               : "transformer-tiny")
                                          : f.preset);
  GeneratorConfig g = c.generator();  // until it is clear that the head is one
  change_kind(c.encoder, encoder_of_kind, f.arch, "--arch");
  change_kind(g.decoder, decoder_of_kind, f.arch, "--arch");
  change_kind(c.encoder, encoder_of_kind, f.encoder, "--encoder");
  change_kind(g.decoder, decoder_of_kind, f.decoder, "--decoder");
  const bool captions = task == Task::caption;
  // A caption's decoder attends to the regions themselves unless there is an encoder between; without any word on it,
  // it is that of Xu et al. 2015.
  if (captions && f.preset.empty()) {
    if (f.encoder.empty()) c.encoder = NoEncoderConfig{};
    const std::string kind = !f.decoder.empty() ? f.decoder : !f.arch.empty() ? f.arch : "rnn";
    g.decoder = decoder_of_kind(kind, "--decoder");  // with its own layers and width
    if (auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder)) rnn->form = RnnForm::gated;
  }
  const bool classifies = task == Task::classify;
  if (classifies) {
    if (!f.decoder.empty() || f.decoder_layers || !f.decoder_self.empty() || !f.tie.empty()) {
      throw UsageError(fmt::format("{}: a classifier has no decoder", !f.decoder.empty()        ? "--decoder"
                                                                      : f.decoder_layers        ? "--decoder-layers"
                                                                      : !f.decoder_self.empty() ? "--decoder-self"
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
  if (!f.kernels.empty()) FOVEA_SET_PARTS(c, "--kernels", kernels, f.kernels);
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
  set_decoder_self(c, f.decoder_self);
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
  if (task == Task::chat) {
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

void add_model_options(CLI::App& command, ModelOptions& f, TrainingJob& job) {
  const char* group = "Model";
  command
      .add_option("--turns", f.turns,
                  "flat (default): one sequence with turn embeddings; hierarchical: attention over words, then over "
                  "turns (chat)")
      ->group(group);
  command.add_option("--max-turns", f.max_turns, "turns that are read, the last ones (chat; default: 5)")->group(group);
  command
      .add_option(
          "--preset", f.preset,
          fmt::format("one of {}; default: a transformer, its size by the text", fmt::join(preset_names(), ", ")))
      ->group(group);
  command.add_option("--arch", f.arch, "rnn, cnn or transformer, for both sides")->group(group);
  command
      .add_option("--encoder", f.encoder, "rnn, cnn, parallel-cnn or transformer, or none: the embeddings as they are")
      ->group(group);
  command.add_option("--pooling", f.pooling, "learned, context, hops, hierarchical, mean, max or last (classifier)")
      ->group(group);
  command.add_option("--hops", f.hops, "attentions side by side (pooling hops)")->group(group);
  command.add_option("--hidden", f.hidden, "hidden units of pooling context, hops or hierarchical")->group(group);
  command
      .add_option("--sentence-dim", f.sentence_dim, "units of the GRU over sentences; 0: none (pooling hierarchical)")
      ->group(group);
  command
      .add_option("--separator", f.separator,
                  "what stands between sentences; without it they are found by their marks (pooling hierarchical)")
      ->group(group);
  command.add_option("--word-ngrams", f.word_ngrams, "runs of up to N words have vectors too (classifier)")
      ->group(group);
  command
      .add_option("--char-ngrams", f.char_ngrams,
                  "runs of A to B characters of each word have vectors too, as in 3-5 (classifier)")
      ->group(group);
  command.add_option("--buckets", f.buckets, "vectors that the n-grams share by their hashes (default: 200000)")
      ->group(group);
  command
      .add_option("--vectors", job.vectors,
                  "word vectors to start with: GloVe's or fastText's text, word2vec's binary (classifier)")
      ->group(group);
  command
      .add_option("--hops-penalty", job.hops_penalty,
                  "weight of the overlap of hops, so that they differ (pooling hops)")
      ->group(group);
  command.add_option("--decoder", f.decoder, "rnn, cnn or transformer")->group(group);
  command.add_option("--layers", f.layers, "layers of each side")->group(group);
  command.add_option("--decoder-layers", f.decoder_layers, "layers of the decoder, when they differ")->group(group);
  command
      .add_option("--decoder-self", f.decoder_self,
                  "how the decoder reads what it has written: attention, or cheaper ssru or average (transformer)")
      ->group(group);
  command.add_option("--dim", f.dim, "width of the states")->check(CLI::Range(1, 16384))->group(group);
  command.add_option("--embedding", f.embedding, "width of the embeddings")->group(group);
  command.add_option("--ffn", f.ffn, "inner width of the feed-forward layers (transformer)")->group(group);
  command.add_option("--heads", f.heads, "attention heads (transformer)")->group(group);
  command.add_option("--norm", f.norm, "pre or post (transformer)")->group(group);
  command
      .add_option("--positions", f.positions,
                  "sinusoidal, timing-signal, learned, rotary, rotary-cross or alibi (transformer)")
      ->group(group);
  command
      .add_option("--activation", f.activation,
                  "relu, gelu, gelu-tanh or swish, inside feed-forward layers (transformer)")
      ->group(group);
  command.add_option("--max-positions", f.max_positions, "length of a learned table of positions")->group(group);
  command.add_option("--cell", f.cell, "gru or lstm (rnn)")->group(group);
  command.add_flag("--unidirectional", f.unidirectional, "encode left to right only (rnn)")->group(group);
  command
      .add_option(
          "--attention", f.attention,
          "additive, dot, scaled-dot, general, concat, location, cosine or none (rnn decoder); scaled-dot or dot "
          "(transformer); scaled-dot (cnn)")
      ->group(group);
  command.add_option("--form", f.form, "bahdanau, luong, conditional or gated (rnn decoder)")->group(group);
  command
      .add_option("--attention-kind", f.attention_kind,
                  "soft: the mean of what is attended to; hard: one place, sampled in training (gated form)")
      ->group(group);
  command
      .add_flag(
          "--input-feeding", f.input_feeding,
          "feed the attentional state back (rnn decoder; in the luong form, which it takes unless --form is given)")
      ->group(group);
  command.add_flag("--no-input-feeding", f.no_input_feeding, "do not, whatever the preset says")->group(group);
  command.add_option("--local", f.local, "monotonic or predictive: attend only near a centre (rnn decoder)")
      ->group(group);
  command.add_option("--local-window", f.local_window, "how far from the centre")->group(group);
  command.add_flag("--coverage", f.coverage, "let the score know what was attended to before (rnn decoder)")
      ->group(group);
  command
      .add_flag("--copy", f.copy, "words of the source can be copied, also those in no vocabulary (pointer-generator)")
      ->group(group);
  command.add_option("--kernel", f.kernel, "width of the convolutions (cnn)")->group(group);
  command
      .add_option("--kernels", f.kernels,
                  "widths of convolutions side by side, as in 3,4,5, --dim channels of each (parallel-cnn)")
      ->delimiter(',')
      ->group(group);
  command.add_option("--tie", f.tie, "share embeddings: none, target (with the output) or all")->group(group);
  command
      .add_flag("--unscaled-embeddings", f.unscaled_embeddings,
                "do not multiply embeddings by the root of their width, without which they start small (rnn)")
      ->group(group);

  group = "Pictures";
  command.add_option("--picture-encoder", f.picture_encoder, "small: a CNN to train; squeezenet: SqueezeNet 1.1")
      ->group(group)
      ->capture_default_str();
  command
      .add_option("--picture-weights", job.picture_weights,
                  "trained weights of squeezenet: a folder of .npy or a .safetensors file")
      ->group(group);
  command.add_flag("--freeze", job.freeze, "do not train the picture encoder; its features are computed once")
      ->group(group);
  command.add_option("--picture-size", f.picture_size, "pixels on a side that pictures are resized to (default: 160)")
      ->group(group);
  command.add_option("--picture-channels", f.picture_channels, "numbers per region that small gives (default: 256)")
      ->group(group);
  command.add_option("--picture-blocks", f.picture_blocks, "residual blocks per resolution of small (default: 1)")
      ->group(group);
  command
      .add_option("--doubly-stochastic", job.doubly_stochastic,
                  "weight of a loss that wants every region attended to by some word; 0: off")
      ->group(group)
      ->capture_default_str();
  command
      .add_option("--attention-entropy", job.attention_entropy,
                  "weight of the entropy of hard attention, so that it goes on trying regions")
      ->group(group)
      ->capture_default_str();
}

}  // namespace fovea::cli
