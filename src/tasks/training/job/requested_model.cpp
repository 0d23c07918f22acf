#include "tasks/training/job/requested_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <tuple>
#include <utility>

#include "fovea/error.hpp"

namespace fovea {
namespace {

// The part as another kind: layers and width stay.
template <class Part>
void change_kind(Part& part, Part (*of_kind)(std::string_view, std::string_view), const std::string& kind,
                 const char* field) {
  if (kind.empty() || kind == kind_of(part)) return;
  Part changed = of_kind(kind, field);
  std::visit(
      [&part](auto& c) {
        if constexpr (requires { c.layers = 1; }) c.layers = std::max(1, layers_of(part));
        c.dim = dim_of(part);
      },
      changed);
  part = changed;
}

// What the other options change: a preset, or the usual model of the task.
ModelConfig starting_model(const ModelChoice& choice, Task task) {
  ModelConfig c = preset(!choice.preset.empty() ? choice.preset
                         : choice.arch == "rnn" ? "rnn-bahdanau"
                         : choice.arch == "cnn" ? "cnn"
                                                : "transformer-tiny");
  DecoderConfig& decoder = c.generator().decoder;
  change_kind(c.encoder, encoder_of_kind, choice.arch, "arch");
  change_kind(decoder, decoder_of_kind, choice.arch, "arch");
  change_kind(c.encoder, encoder_of_kind, choice.encoder, "encoder");
  change_kind(decoder, decoder_of_kind, choice.decoder, "decoder");
  if (task == Task::caption && choice.preset.empty()) {
    if (!choice.arch.empty() && !choice.decoder.empty()) {
      throw UsageError("arch", "has no effect on captions whose decoder is given");
    }
    // The model of Xu et al. 2015: the decoder attends to the regions themselves unless there is an encoder between.
    if (choice.encoder.empty()) c.encoder = NoEncoderConfig{};
    const std::string kind = !choice.decoder.empty() ? choice.decoder : !choice.arch.empty() ? choice.arch : "rnn";
    decoder = decoder_of_kind(kind, "decoder");  // with its own layers and width
    if (auto* rnn = std::get_if<RnnDecoderConfig>(&decoder)) rnn->form = RnnForm::gated;
  }
  if (task == Task::classify) c.head = ClassifierConfig{};
  return c;
}

// A decoder that is not recurrent has one score; a transformer divides its dot products or not.
void set_attention(DecoderConfig& decoder, OptionValues& options) {
  if (!options.given("attention") || std::holds_alternative<RnnDecoderConfig>(decoder)) return;
  const std::string name = options.take("attention");
  auto* transformer = std::get_if<TransformerConfig>(&decoder);
  const auto wanted = enum_value<RnnAttention>(name, "attention");
  const bool scaled = wanted == RnnAttention::scaled_dot;
  if (!scaled && (transformer == nullptr || wanted != RnnAttention::dot)) {
    throw UsageError("attention", fmt::format("a {} decoder has scaled-dot{}, not {}; an rnn decoder has every score",
                                              kind_of(decoder), transformer != nullptr ? " or dot" : "", name));
  }
  if (transformer != nullptr) transformer->scaled_scores = scaled;
}

// Options that need a certain form of a recurrent decoder choose it unless the form is given.
void choose_form(DecoderConfig& decoder, const OptionValues& options) {
  auto* rnn = std::get_if<RnnDecoderConfig>(&decoder);
  if (rnn == nullptr || options.given("form")) return;
  if (options.text("input-feeding") == "true") rnn->form = RnnForm::luong;
  if (options.text("attention-kind") == enum_text(Focus::hard)) rnn->form = RnnForm::gated;
}

void fill_decoder(GeneratorConfig& head, const ModelChoice& choice, OptionValues& options) {
  choose_form(head.decoder, options);
  set_attention(head.decoder, options);
  std::visit([&options](auto& c) { options.fill(c); }, head.decoder);
  if (choice.decoder_layers > 0) std::visit([&](auto& c) { c.layers = choice.decoder_layers; }, head.decoder);
  if (options.given("decoder-self")) set_decoder_self(head.decoder, choice.decoder_self);
  head.embedding = dim_of(head.decoder);
}

// A range of lengths, as in 3-5.
std::pair<int, int> lengths_of(const std::string& text) {
  int low = 0;
  int high = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, low);
  const bool dash = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
  const auto second =
      dash ? std::from_chars(first.ptr + 1, end, high) : std::from_chars_result{end, std::errc::invalid_argument};
  if (second.ec != std::errc() || second.ptr != end || low < 1 || high < low) {
    throw UsageError("char_ngrams", fmt::format("\"{}\" is not a range of lengths, as in 3-5", text));
  }
  return {low, high};
}

NgramSourceConfig ngram_source(const ModelChoice& choice, const OptionValues& options) {
  if (!options.given("word-ngrams") && choice.char_ngrams.empty()) {
    throw UsageError("buckets", "has no effect without word-ngrams or char-ngrams");
  }
  NgramSourceConfig source;
  if (!choice.char_ngrams.empty()) std::tie(source.char_min, source.char_max) = lengths_of(choice.char_ngrams);
  return source;
}

SourceConfig source_of(const ModelConfig& c, const ModelChoice& choice, const OptionValues& options, Task task) {
  if (task == Task::caption) {
    PictureSourceConfig pictures;
    const bool none = std::holds_alternative<NoEncoderConfig>(c.encoder);
    pictures.embedding = none ? dim_of(c.generator().decoder) : dim_of(c.encoder);
    return pictures;
  }
  const auto sized = [&c](auto source) {
    source.embedding = dim_of(c.encoder);  // as wide as the states unless another width is given
    return source;
  };
  const bool ngrams = options.given("word-ngrams") || !choice.char_ngrams.empty() || options.given("buckets");
  if (task == Task::classify && ngrams) return sized(ngram_source(choice, options));
  if (task == Task::chat) return sized(TurnSourceConfig{});
  return sized(TokenSourceConfig{});
}

template <class... Kinds>
void list_kinds(std::vector<OptionInfo>& all, const char* what, const std::variant<Kinds...>&) {
  (list_options(all, fmt::format("{} {}", Kinds::kind, what), Kinds{}), ...);
}

}  // namespace

void set_decoder_self(DecoderConfig& decoder, DecoderSelf self) {
  auto* transformer = std::get_if<TransformerConfig>(&decoder);
  if (transformer == nullptr) {
    throw UsageError("decoder_self",
                     fmt::format("only a transformer decoder has it, and this one is {}", kind_of(decoder)));
  }
  transformer->decoder_self = self;
}

ModelConfig requested_model(OptionValues& options, Task task) {
  ModelChoice choice;
  options.fill(choice, task);
  ModelConfig c = starting_model(choice, task);
  std::visit([&options](auto& part) { options.fill(part); }, c.encoder);
  auto* generator = std::get_if<GeneratorConfig>(&c.head);
  if (generator != nullptr) fill_decoder(*generator, choice, options);
  c.source = source_of(c, choice, options, task);
  std::visit([&options](auto& part) { options.fill(part); }, c.source);
  std::visit([&options](auto& part) { options.fill(part); }, c.head);
  if (auto* none = std::get_if<NoEncoderConfig>(&c.encoder)) none->dim = c.source_width();
  return c;
}

void list_model_options(std::vector<OptionInfo>& all) {
  for (const Task task : {Task::generate, Task::classify}) list_options(all, "a model", ModelChoice{}, task);
  list_kinds(all, "encoder", EncoderConfig{});
  list_kinds(all, "decoder", DecoderConfig{});
  list_options(all, "model that writes text", GeneratorConfig{});
  list_options(all, "task classify", ClassifierConfig{});
  list_options(all, "task classify", NgramSourceConfig{});
  list_options(all, "task chat", TurnSourceConfig{});
  list_options(all, "task caption", PictureSourceConfig{});
}

}  // namespace fovea
