#include "fovea/model/config.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"

namespace fovea {

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

bool has_part(const ModelConfig& config, std::string_view kind) {
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  return kind_of(config.encoder) == kind || (generator != nullptr && kind_of(generator->decoder) == kind);
}

bool writes_with_attention(const ModelConfig& config) {
  return std::holds_alternative<GeneratorConfig>(config.head) && config.attends();
}

bool reads_pictures(const ModelConfig& config) {
  return std::holds_alternative<PictureSourceConfig>(config.source);
}

bool samples_regions(const ModelConfig& config) {
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  const auto* rnn = generator != nullptr ? std::get_if<RnnDecoderConfig>(&generator->decoder) : nullptr;
  return reads_pictures(config) && rnn != nullptr && rnn->attention_kind == Focus::hard;
}

bool pools_hops(const ModelConfig& config) {
  const auto* classifier = std::get_if<ClassifierConfig>(&config.head);
  return classifier != nullptr && classifier->pooling == Pooling::hops;
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
