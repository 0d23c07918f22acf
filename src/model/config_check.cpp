// What the fields of a model must agree on; their ranges are declared with them.
#include <fmt/format.h>

#include "base/option_values.hpp"
#include "fovea/error.hpp"
#include "fovea/model/config.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea {
namespace {

constexpr std::size_t kMostKernels = 16;  // side by side

// `embedding` is the width of what the part reads.
void check_part(const TransformerConfig& c, int embedding) {
  if (c.dim % c.heads != 0) throw UsageError("heads", fmt::format("{} do not divide the width {}", c.heads, c.dim));
  if (embedding != c.dim) {
    throw UsageError("embedding", fmt::format("a transformer's is its width, {}, not {}", c.dim, embedding));
  }
  if (is_rotary(c.positions) && (c.dim / c.heads) % 2 != 0) {
    throw UsageError("positions",
                     fmt::format("{} needs an even width per head, not {}", enum_text(c.positions), c.dim / c.heads));
  }
}

// What a decoder alone can have, and an encoder alone cannot.
void check_side(const TransformerConfig& c, bool decodes) {
  if (c.decoder_self == DecoderSelf::attention) return;
  if (!decodes) {
    throw UsageError("decoder_self",
                     fmt::format("an encoder's is attention, not {}; it reads no output", enum_text(c.decoder_self)));
  }
  if (c.decoder_self == DecoderSelf::average && (is_rotary(c.positions) || c.positions == Positions::alibi)) {
    throw UsageError("decoder_self",
                     fmt::format("a mean knows no order and {} positions do not add it; average goes with sinusoidal, "
                                 "timing-signal or learned positions",
                                 enum_text(c.positions)));
  }
}
template <class Config>
void check_side(const Config&, bool) {}

void check_part(const RnnDecoderConfig& c, int) {
  const bool additive = c.attention == RnnAttention::additive || c.attention == RnnAttention::concat;
  if (c.local != LocalKind::none && c.attention == RnnAttention::none) {
    throw UsageError("local", "only an rnn decoder with attention has it");
  }
  if (c.coverage && !additive) {
    throw UsageError("coverage", "only an rnn decoder with additive or concat attention has it");
  }
  if (c.input_feeding && c.form != RnnForm::luong) {
    throw UsageError("input_feeding", "only an rnn decoder of the luong form has it");
  }
  if (c.form == RnnForm::gated && c.attention == RnnAttention::none) {
    throw UsageError("form", "gated multiplies what attention has read; it needs attention");
  }
  if (c.attention_kind == Focus::hard && c.form != RnnForm::gated) {
    throw UsageError("attention_kind", "only an rnn decoder of the gated form can be hard");
  }
  if (c.attention_dim > 0 && !additive) {
    throw UsageError("attention_dim", "only additive and concat attention have an inner width");
  }
  if (c.cells_start && c.cell != Cell::lstm) throw UsageError("cells_start", "a GRU has states only, no cells");
  if (c.layers_start && (c.mean_start || c.cells_start)) {
    throw UsageError("layers_start",
                     "states and cells are the encoder's own; mean-start and cells-start do not go with it");
  }
  if (c.residual && c.form != RnnForm::conditional) {
    throw UsageError("residual", "only the layers of an rnn decoder of the conditional form have it");
  }
  if (c.readout != Activation::none && c.readout != Activation::tanh) {
    throw UsageError("readout", fmt::format("none or tanh, not {}", enum_text(c.readout)));
  }
  if ((c.readout_dim > 0 || c.readout != Activation::none) && c.form == RnnForm::luong &&
      c.attention != RnnAttention::none) {
    throw UsageError("readout", "the luong form's attentional layer is what the output layer reads");
  }
  if (c.form != RnnForm::conditional) return;
  if (c.attention == RnnAttention::none) {
    throw UsageError("form", "conditional attends between two cells; it needs attention");
  }
}

// A decoder whose layers start as those of its encoder ended.
void check_layers_start(const EncoderConfig& encoder, const RnnDecoderConfig& c) {
  const auto* rnn = std::get_if<RnnEncoderConfig>(&encoder);
  if (rnn == nullptr) {
    throw UsageError("layers_start", fmt::format("only an rnn encoder has last states, not {}", kind_of(encoder)));
  }
  const int width = rnn->dim * (rnn->bidirectional ? 2 : 1);
  if (rnn->layers != c.layers || width != c.dim || rnn->cell != c.cell) {
    throw UsageError(
        "layers_start",
        fmt::format("{} layers of {} {} units in the decoder cannot start as {} layers of {} {} units in the encoder",
                    c.layers, c.dim, enum_text(c.cell), rnn->layers, width, enum_text(rnn->cell)));
  }
}

void check_part(const ParallelCnnConfig& c, int) {
  if (c.kernels.empty() || c.kernels.size() > kMostKernels) {
    throw UsageError("kernels", fmt::format("{} given, 1 to {} are possible", c.kernels.size(), kMostKernels));
  }
}

void check_part(const NoEncoderConfig& c, int embedding) {
  if (embedding != c.dim) {
    throw UsageError("embedding",
                     fmt::format("without an encoder it is the width of the memory, {}, not {}", c.dim, embedding));
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
    throw UsageError("scaled_embeddings", "a CNN cannot do without; it adds positions of that size");
  }
  for (const std::int32_t id : g.suppressed) {
    if (id < 0 || id >= g.vocabulary || id == eos_id) {
      throw UsageError("suppressed", fmt::format("{} given, a token of the vocabulary is needed, not its end", id));
    }
  }
  if (g.copy) {
    if (tokens == nullptr) throw UsageError("copy", "only a source of tokens has words to copy");
    const auto* rnn = std::get_if<RnnDecoderConfig>(&g.decoder);
    if (rnn != nullptr && rnn->attention == RnnAttention::none) {
      throw UsageError("copy", "a decoder without attention knows no word to copy");
    }
    if (rnn != nullptr && rnn->local != LocalKind::none) {
      throw UsageError("copy", "local attention leaves out most of the source; it goes with attention to all of it");
    }
  }
  if (g.tie != Tie::all) return;
  if (tokens == nullptr) {
    throw UsageError("tie", fmt::format("a source of kind {} has no embeddings that could be the target's too; target "
                                        "makes its embeddings the output layer",
                                        kind_of(model.source)));
  }
  if (!model.shared_vocabulary) {
    throw UsageError("tie", "all three matrices can be one only with a shared vocabulary");
  }
  if (g.embedding != tokens->embedding || g.vocabulary != tokens->vocabulary) {
    throw UsageError("tie", fmt::format("one matrix cannot be [{}, {}] in the source and [{}, {}] in the target",
                                        tokens->vocabulary, tokens->embedding, g.vocabulary, g.embedding));
  }
}

void check_language_model(const ModelConfig& model) {
  const auto* generator = std::get_if<GeneratorConfig>(&model.head);
  if (generator == nullptr) {
    throw UsageError("source", fmt::format("without one a model writes text; a {} needs one", kind_of(model.head)));
  }
  if (!std::holds_alternative<NoEncoderConfig>(model.encoder)) {
    throw UsageError("encoder", fmt::format("without a source it is none, not {}", kind_of(model.encoder)));
  }
  const auto* rnn = std::get_if<RnnDecoderConfig>(&generator->decoder);
  if (generator->copy || (rnn != nullptr && rnn->attention != RnnAttention::none)) {
    throw UsageError(generator->copy ? "copy" : "attention",
                     fmt::format("without a source there is nothing to {}", generator->copy ? "copy" : "attend to"));
  }
}

}  // namespace

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
    throw UsageError("kernel", fmt::format("{} is even; the CNN encoder needs an odd width", cnn->kernel));
  }
  if (const auto* generator = std::get_if<GeneratorConfig>(&head)) check_generator(*this, *generator);
  if (std::holds_alternative<PictureSourceConfig>(source) && !std::holds_alternative<GeneratorConfig>(head)) {
    throw UsageError("task", fmt::format("a model of pictures writes text; a {} cannot read them", kind_of(head)));
  }
  const auto* classifier = std::get_if<ClassifierConfig>(&head);
  if (const auto* ngrams = std::get_if<NgramSourceConfig>(&source)) {
    if (classifier == nullptr) throw UsageError("word_ngrams", "a source of n-grams goes with a classifier");
    if ((ngrams->char_min == 0) != (ngrams->char_max == 0) || ngrams->char_min > ngrams->char_max) {
      throw UsageError("char_ngrams",
                       fmt::format("{}-{} is no range of lengths, as in 3-5", ngrams->char_min, ngrams->char_max));
    }
  }
  if (classifier != nullptr && classifier->pooling == Pooling::last &&
      !std::holds_alternative<RnnEncoderConfig>(encoder)) {
    throw UsageError("pooling", fmt::format("only an rnn encoder has a last state, not {}", kind_of(encoder)));
  }
}

}  // namespace fovea
