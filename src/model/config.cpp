#include "fovea/model/config.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "fovea/error.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea {

namespace detail {
void unknown_name(std::string_view what, std::string_view text, const std::string& possible) {
  throw UsageError(fmt::format("{}: \"{}\" is not one of {}", what, text, possible));
}
}  // namespace detail

#define FOVEA_ENUM_NAMES(E, ...)                          \
  template <>                                             \
  std::span<const EnumName<E>> enum_names<E>() {          \
    static constexpr EnumName<E> names[] = {__VA_ARGS__}; \
    return names;                                         \
  }

FOVEA_ENUM_NAMES(Cell, {Cell::gru, "gru"}, {Cell::lstm, "lstm"})
FOVEA_ENUM_NAMES(RnnAttention, {RnnAttention::none, "none"}, {RnnAttention::additive, "additive"},
                 {RnnAttention::dot, "dot"}, {RnnAttention::scaled_dot, "scaled-dot"},
                 {RnnAttention::general, "general"}, {RnnAttention::concat, "concat"},
                 {RnnAttention::location, "location"}, {RnnAttention::cosine, "cosine"})
FOVEA_ENUM_NAMES(RnnForm, {RnnForm::bahdanau, "bahdanau"}, {RnnForm::luong, "luong"},
                 {RnnForm::conditional, "conditional"}, {RnnForm::gated, "gated"})
FOVEA_ENUM_NAMES(Focus, {Focus::soft, "soft"}, {Focus::hard, "hard"})
FOVEA_ENUM_NAMES(PictureEncoder, {PictureEncoder::small, "small"}, {PictureEncoder::squeezenet, "squeezenet"})
FOVEA_ENUM_NAMES(LocalKind, {LocalKind::none, "none"}, {LocalKind::monotonic, "monotonic"},
                 {LocalKind::predictive, "predictive"})
FOVEA_ENUM_NAMES(Norm, {Norm::pre, "pre"}, {Norm::post, "post"})
FOVEA_ENUM_NAMES(Positions, {Positions::sinusoidal, "sinusoidal"}, {Positions::timing_signal, "timing-signal"},
                 {Positions::learned, "learned"}, {Positions::rotary, "rotary"},
                 {Positions::rotary_cross, "rotary-cross"}, {Positions::alibi, "alibi"})
FOVEA_ENUM_NAMES(DecoderSelf, {DecoderSelf::attention, "attention"}, {DecoderSelf::ssru, "ssru"},
                 {DecoderSelf::average, "average"})
FOVEA_ENUM_NAMES(Pooling, {Pooling::learned, "learned"}, {Pooling::context, "context"}, {Pooling::hops, "hops"},
                 {Pooling::hierarchical, "hierarchical"}, {Pooling::mean, "mean"}, {Pooling::max, "max"},
                 {Pooling::last, "last"})
FOVEA_ENUM_NAMES(Task, {Task::generate, "generate"}, {Task::classify, "classify"}, {Task::chat, "chat"},
                 {Task::caption, "caption"}, {Task::complete, "complete"})
FOVEA_ENUM_NAMES(Turns, {Turns::flat, "flat"}, {Turns::hierarchical, "hierarchical"})
FOVEA_ENUM_NAMES(Tie, {Tie::none, "none"}, {Tie::target, "target"}, {Tie::all, "all"})
FOVEA_ENUM_NAMES(Activation, {Activation::none, "none"}, {Activation::relu, "relu"},
                 {Activation::leaky_relu, "leaky-relu"}, {Activation::gelu, "gelu"},
                 {Activation::gelu_tanh, "gelu-tanh"}, {Activation::swish, "swish"}, {Activation::tanh, "tanh"},
                 {Activation::sigmoid, "sigmoid"})
#undef FOVEA_ENUM_NAMES

namespace {

template <class Variant, std::size_t... I>
Variant variant_of_kind(std::string_view kind, std::string_view what, std::index_sequence<I...>) {
  Variant made;
  std::string possible;
  const bool found = ((kind == std::variant_alternative_t<I, Variant>::kind
                           ? (made.template emplace<I>(), true)
                           : (possible += (possible.empty() ? "" : ", "),
                              possible += std::variant_alternative_t<I, Variant>::kind, false)) ||
                      ...);
  if (!found) detail::unknown_name(what, kind, possible);
  return made;
}

struct RangeCheck {
  template <class T, class... Range>
  void operator()(const char* name, const T& value, MayBeAbsent, Range... range) const {
    (*this)(name, value, range...);
  }
  template <class T, class... Range>
  void operator()(const char* name, const T& value, Range... range) const {
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
      const int bounds[] = {range...};
      if (!(value >= static_cast<T>(bounds[0]) && value <= static_cast<T>(bounds[1]))) {
        throw UsageError(fmt::format("{}: {} given, {} to {} are possible", name, value, bounds[0], bounds[1]));
      }
    }
  }
};

template <class Config>
void check_ranges(const Config& config) {
  Config::fields(config, RangeCheck{});
}

constexpr std::size_t kMostKernels = 16;  // side by side
constexpr int kWidestKernel = 63;

// `embedding` is the width of what the part reads.
void check_part(const TransformerConfig& c, int embedding) {
  if (c.dim % c.heads != 0) throw UsageError(fmt::format("heads: {} do not divide the width {}", c.heads, c.dim));
  if (embedding != c.dim) {
    throw UsageError(fmt::format("embedding: a transformer's is its width, {}, not {}", c.dim, embedding));
  }
  if (is_rotary(c.positions) && (c.dim / c.heads) % 2 != 0) {
    throw UsageError(
        fmt::format("positions: {} needs an even width per head, not {}", enum_text(c.positions), c.dim / c.heads));
  }
}

// What a decoder alone can have, and an encoder alone cannot.
void check_side(const TransformerConfig& c, bool decodes) {
  if (c.decoder_self == DecoderSelf::attention) return;
  if (!decodes) {
    throw UsageError(
        fmt::format("decoder-self: an encoder's is attention, not {}; it reads no output", enum_text(c.decoder_self)));
  }
  if (c.decoder_self == DecoderSelf::average && (is_rotary(c.positions) || c.positions == Positions::alibi)) {
    throw UsageError(
        fmt::format("decoder-self: a mean knows no order and {} positions do not add it; average goes with sinusoidal, "
                    "timing-signal or learned positions",
                    enum_text(c.positions)));
  }
}
template <class Config>
void check_side(const Config&, bool) {}

void check_part(const RnnDecoderConfig& c, int) {
  const bool additive = c.attention == RnnAttention::additive || c.attention == RnnAttention::concat;
  if (c.local != LocalKind::none && c.attention == RnnAttention::none) {
    throw UsageError("local: only an rnn decoder with attention has it");
  }
  if (c.coverage && !additive) {
    throw UsageError("coverage: only an rnn decoder with additive or concat attention has it");
  }
  if (c.input_feeding && c.form != RnnForm::luong) {
    throw UsageError("input-feeding: only an rnn decoder of the luong form has it");
  }
  if (c.form == RnnForm::gated && c.attention == RnnAttention::none) {
    throw UsageError("form: gated multiplies what attention has read; it needs attention");
  }
  if (c.attention_kind == Focus::hard && c.form != RnnForm::gated) {
    throw UsageError("attention-kind: only an rnn decoder of the gated form can be hard");
  }
  if (c.attention_dim > 0 && !additive) {
    throw UsageError("attention-dim: only additive and concat attention have an inner width");
  }
  if (c.cells_start && c.cell != Cell::lstm) throw UsageError("cells-start: a GRU has no cells beside its states");
  if (c.layers_start && (c.mean_start || c.cells_start)) {
    throw UsageError(
        "layers-start: states and cells are the encoder's own; mean-start and cells-start do not go with it");
  }
  if (c.residual && c.form != RnnForm::conditional) {
    throw UsageError("residual: only the layers of an rnn decoder of the conditional form have it");
  }
  if (c.readout != Activation::none && c.readout != Activation::tanh) {
    throw UsageError(fmt::format("readout: none or tanh, not {}", enum_text(c.readout)));
  }
  if ((c.readout_dim > 0 || c.readout != Activation::none) && c.form == RnnForm::luong &&
      c.attention != RnnAttention::none) {
    throw UsageError("readout: the luong form's attentional layer is what the output layer reads");
  }
  if (c.form != RnnForm::conditional) return;
  if (c.attention == RnnAttention::none) {
    throw UsageError("form: conditional attends between two cells; it needs attention");
  }
}

// A decoder whose layers start as those of its encoder ended.
void check_layers_start(const EncoderConfig& encoder, const RnnDecoderConfig& c) {
  const auto* rnn = std::get_if<RnnEncoderConfig>(&encoder);
  if (rnn == nullptr) {
    throw UsageError(fmt::format("layers-start: only an rnn encoder has last states, not {}", kind_of(encoder)));
  }
  const int width = rnn->dim * (rnn->bidirectional ? 2 : 1);
  if (rnn->layers != c.layers || width != c.dim || rnn->cell != c.cell) {
    throw UsageError(fmt::format(
        "layers-start: {} layers of {} {} units in the decoder cannot start as {} layers of {} {} units in the encoder",
        c.layers, c.dim, enum_text(c.cell), rnn->layers, width, enum_text(rnn->cell)));
  }
}

void check_part(const ParallelCnnConfig& c, int) {
  if (c.kernels.empty() || c.kernels.size() > kMostKernels) {
    throw UsageError(fmt::format("kernels: {} given, 1 to {} are possible", c.kernels.size(), kMostKernels));
  }
  for (const int width : c.kernels) {
    if (width >= 1 && width <= kWidestKernel) continue;
    throw UsageError(fmt::format("kernels: a width of {} given, 1 to {} are possible", width, kWidestKernel));
  }
}

void check_part(const NoEncoderConfig& c, int embedding) {
  if (embedding != c.dim) {
    throw UsageError(
        fmt::format("embedding: without an encoder it is the width of the memory, {}, not {}", c.dim, embedding));
  }
}

template <class Config>
void check_part(const Config&, int) {}

// What the generator and the rest of the model must agree on.
void check_generator(const ModelConfig& model, const GeneratorConfig& g) {
  const TokenSourceConfig* tokens = model.reads_tokens() ? &model.tokens() : nullptr;
  std::visit([](const auto& c) { check_ranges(c); }, g.decoder);
  std::visit([&g](const auto& c) { check_part(c, g.embedding); }, g.decoder);
  std::visit([](const auto& c) { check_side(c, true); }, g.decoder);
  if (const auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder); rnn != nullptr && rnn->layers_start) {
    check_layers_start(model.encoder, *rnn);
  }
  const bool cnn = std::holds_alternative<CnnConfig>(model.encoder) || std::holds_alternative<CnnConfig>(g.decoder);
  if (((tokens != nullptr && !tokens->scaled_embeddings) || !g.scaled_embeddings) && cnn) {
    throw UsageError("scaled-embeddings: a CNN cannot do without; it adds positions of that size");
  }
  for (const std::int32_t id : g.suppressed) {
    if (id < 0 || id >= g.vocabulary || id == eos_id) {
      throw UsageError(fmt::format("suppressed: {} given, a token of the vocabulary is needed, not its end", id));
    }
  }
  if (g.copy) {
    const auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder);
    if (rnn != nullptr && rnn->attention == RnnAttention::none) {
      throw UsageError("copy: a decoder without attention knows no word to copy");
    }
    if (rnn != nullptr && rnn->local != LocalKind::none) {
      throw UsageError("copy: local attention leaves out most of the source; it goes with attention to all of it");
    }
  }
  if (g.tie != Tie::all) return;
  if (tokens == nullptr) {
    throw UsageError(
        fmt::format("tie: a source of kind {} has no embeddings that could be the target's too; target "
                    "makes its embeddings the output layer",
                    kind_of(model.source)));
  }
  if (!model.shared_vocabulary) {
    throw UsageError("tie: all three matrices can be one only with a shared vocabulary");
  }
  if (g.embedding != tokens->embedding || g.vocabulary != tokens->vocabulary) {
    throw UsageError(fmt::format("tie: one matrix cannot be [{}, {}] in the source and [{}, {}] in the target",
                                 tokens->vocabulary, tokens->embedding, g.vocabulary, g.embedding));
  }
}

void check_language_model(const ModelConfig& model) {
  const auto* generator = std::get_if<GeneratorConfig>(&model.head);
  if (generator == nullptr) {
    throw UsageError(fmt::format("source: without one a model writes text; a {} needs one", kind_of(model.head)));
  }
  if (!std::holds_alternative<NoEncoderConfig>(model.encoder)) {
    throw UsageError(fmt::format("encoder: without a source it is none, not {}", kind_of(model.encoder)));
  }
  const auto* rnn = std::get_if<RnnDecoderConfig>(&generator->decoder);
  if (generator->copy || (rnn != nullptr && rnn->attention != RnnAttention::none)) {
    throw UsageError(fmt::format("{}: without a source there is nothing to {}", generator->copy ? "copy" : "attention",
                                 generator->copy ? "copy" : "attend to"));
  }
}

}  // namespace

EncoderConfig encoder_of_kind(std::string_view kind, std::string_view what) {
  return variant_of_kind<EncoderConfig>(kind, what, std::make_index_sequence<std::variant_size_v<EncoderConfig>>());
}

DecoderConfig decoder_of_kind(std::string_view kind, std::string_view what) {
  return variant_of_kind<DecoderConfig>(kind, what, std::make_index_sequence<std::variant_size_v<DecoderConfig>>());
}

const TokenSourceConfig& ModelConfig::tokens() const {
  if (const auto* tokens = std::get_if<TokenSourceConfig>(&source)) return *tokens;
  if (const auto* turns = std::get_if<TurnSourceConfig>(&source)) return *turns;
  if (const auto* ngrams = std::get_if<NgramSourceConfig>(&source)) return *ngrams;
  throw UsageError(fmt::format("the model's source is {}, not tokens", kind_of(source)));
}
TokenSourceConfig& ModelConfig::tokens() {
  return const_cast<TokenSourceConfig&>(std::as_const(*this).tokens());
}

const PictureSourceConfig& ModelConfig::pictures() const {
  if (const auto* pictures = std::get_if<PictureSourceConfig>(&source)) return *pictures;
  throw UsageError(fmt::format("the model's source is {}, not pictures", kind_of(source)));
}
PictureSourceConfig& ModelConfig::pictures() {
  return const_cast<PictureSourceConfig&>(std::as_const(*this).pictures());
}

bool ModelConfig::reads_tokens() const {
  return !std::holds_alternative<PictureSourceConfig>(source) && !std::holds_alternative<NoSourceConfig>(source);
}

int ModelConfig::source_width() const {
  return std::visit([](const auto& c) { return c.embedding; }, source);
}

// Every stage halves rows and columns: convolutions of 3x3 with padding in small, pooling without in SqueezeNet.
std::int64_t PictureSourceConfig::grid() const {
  std::int64_t side = picture_size;
  if (picture_encoder == PictureEncoder::small) {
    for (int i = 0; i < 4; ++i) side = (side + 1) / 2;
    return side;
  }
  for (int i = 0; i < 4; ++i) side = (side - 3) / 2 + 1;
  return side;
}

std::int64_t PictureSourceConfig::channels() const {
  return picture_encoder == PictureEncoder::small ? picture_channels : 512;
}

const GeneratorConfig& ModelConfig::generator() const {
  if (const auto* generator = std::get_if<GeneratorConfig>(&head)) return *generator;
  throw UsageError(fmt::format("the model's head is a {}, not a generator", kind_of(head)));
}
GeneratorConfig& ModelConfig::generator() {
  return const_cast<GeneratorConfig&>(std::as_const(*this).generator());
}

const ClassifierConfig& ModelConfig::classifier() const {
  if (const auto* classifier = std::get_if<ClassifierConfig>(&head)) return *classifier;
  throw UsageError(fmt::format("the model's head is a {}, not a classifier", kind_of(head)));
}
ClassifierConfig& ModelConfig::classifier() {
  return const_cast<ClassifierConfig&>(std::as_const(*this).classifier());
}

Task ModelConfig::task() const {
  if (std::holds_alternative<PictureSourceConfig>(source)) return Task::caption;
  if (std::holds_alternative<NoSourceConfig>(source)) return Task::complete;
  if (std::holds_alternative<ClassifierConfig>(head)) return Task::classify;
  if (std::holds_alternative<TurnSourceConfig>(source)) return Task::chat;
  return Task::generate;
}

void ModelConfig::check() const {
  std::visit([](const auto& c) { check_ranges(c); }, source);
  std::visit([](const auto& c) { check_ranges(c); }, encoder);
  std::visit([](const auto& c) { check_ranges(c); }, head);
  if (std::holds_alternative<NoSourceConfig>(source)) {
    check_language_model(*this);
  } else {
    std::visit([this](const auto& c) { check_part(c, source_width()); }, encoder);
  }
  std::visit([](const auto& c) { check_side(c, false); }, encoder);
  if (const auto* cnn = std::get_if<CnnConfig>(&encoder); cnn != nullptr && cnn->kernel % 2 == 0) {
    throw UsageError(fmt::format("kernel: {} is even; the CNN encoder needs an odd width", cnn->kernel));
  }
  if (const auto* generator = std::get_if<GeneratorConfig>(&head)) check_generator(*this, *generator);
  if (std::holds_alternative<PictureSourceConfig>(source) && !std::holds_alternative<GeneratorConfig>(head)) {
    throw UsageError(fmt::format("task: a model of pictures writes text; a {} cannot read them", kind_of(head)));
  }
  const auto* classifier = std::get_if<ClassifierConfig>(&head);
  if (const auto* ngrams = std::get_if<NgramSourceConfig>(&source)) {
    if (classifier == nullptr) throw UsageError("word-ngrams: a source of n-grams goes with a classifier");
    if ((ngrams->char_min == 0) != (ngrams->char_max == 0) || ngrams->char_min > ngrams->char_max) {
      throw UsageError(
          fmt::format("char-ngrams: {}-{} is no range of lengths, as in 3-5", ngrams->char_min, ngrams->char_max));
    }
  }
  if (classifier != nullptr && classifier->pooling == Pooling::last &&
      !std::holds_alternative<RnnEncoderConfig>(encoder)) {
    throw UsageError(fmt::format("pooling: only an rnn encoder has a last state, not {}", kind_of(encoder)));
  }
}

namespace {

std::int64_t learned_positions(const CnnConfig& c) {
  return c.max_positions;
}
std::int64_t learned_positions(const TransformerConfig& c) {
  return c.positions == Positions::learned ? c.max_positions : 0;
}
template <class Config>
std::int64_t learned_positions(const Config&) {
  return 0;
}

}  // namespace

std::int64_t ModelConfig::longest_source() const {
  const std::int64_t table = std::visit([](const auto& c) { return learned_positions(c); }, encoder);
  const auto* generator = std::get_if<GeneratorConfig>(&head);
  const auto* rnn = generator != nullptr ? std::get_if<RnnDecoderConfig>(&generator->decoder) : nullptr;
  const std::int64_t location = rnn != nullptr && rnn->attention == RnnAttention::location ? rnn->max_positions : 0;
  return table == 0 ? location : location == 0 ? table : std::min(table, location);
}

std::int64_t ModelConfig::longest_target() const {
  const auto* generator = std::get_if<GeneratorConfig>(&head);
  if (generator == nullptr) return 0;
  return std::visit([](const auto& c) { return learned_positions(c); }, generator->decoder);
}

bool ModelConfig::layers_start() const {
  const auto* rnn = std::get_if<RnnDecoderConfig>(&generator().decoder);
  return rnn != nullptr && rnn->layers_start;
}

bool ModelConfig::attends() const {
  if (std::holds_alternative<NoSourceConfig>(source)) return false;
  if (const auto* classifier = std::get_if<ClassifierConfig>(&head)) {
    return classifier->pooling == Pooling::learned || classifier->pooling == Pooling::context ||
           classifier->pooling == Pooling::hops || classifier->pooling == Pooling::hierarchical;
  }
  const auto* rnn = std::get_if<RnnDecoderConfig>(&generator().decoder);
  return rnn == nullptr || rnn->attention != RnnAttention::none;
}

int ModelConfig::attention_layers() const {
  if (!attends()) return 0;
  const auto* generator = std::get_if<GeneratorConfig>(&head);
  if (generator == nullptr || std::holds_alternative<RnnDecoderConfig>(generator->decoder)) return 1;
  return layers_of(generator->decoder);
}

int ModelConfig::attention_heads() const {
  if (const auto* classifier = std::get_if<ClassifierConfig>(&head)) {
    return classifier->pooling == Pooling::hops ? classifier->hops : 1;
  }
  const auto* transformer = std::get_if<TransformerConfig>(&generator().decoder);
  return transformer != nullptr ? transformer->heads : 1;
}

}  // namespace fovea
