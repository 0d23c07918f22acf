#include "fovea/model/seq2seq.hpp"

#include <optional>

#include "fovea/attention/interventions.hpp"
#include "model/turns.hpp"

namespace fovea {

// The configuration of a conversation's source chooses one of the two.
struct Seq2Seq::TurnParts {
  TurnParts(const TurnSourceConfig& config, std::int64_t width, Parameters& p) {
    if (config.turns == Turns::hierarchical) {
      attention.emplace(p, "turns", config.max_turns, width);
    } else {
      embedding.emplace(p, "turns.embedding", config.max_turns, config.embedding,
                        EmbeddingOptions{.scaled = config.scaled_embeddings});
    }
  }
  std::optional<TurnEmbedding> embedding;
  std::optional<TurnAttention> attention;
};

namespace {

const ModelConfig& checked(const ModelConfig& config) {
  config.check();
  return config;
}

// The embeddings of masked tokens are zeros, in every sequence.
Var without_masked(const Var& embedded, const Interventions& interventions) {
  Tensor out = embedded.value().clone();
  for (std::int64_t t = 0; t < out.dim(1); ++t) {
    if (!interventions.masks(t)) continue;
    for (std::int64_t b = 0; b < out.dim(0); ++b) out.select(0, b).select(0, t).fill(0.0F);
  }
  return out;
}

std::string source_table(const ModelConfig& config) {
  return config.generator().tie == Tie::all ? "embedding" : "source.embedding";
}

}  // namespace

Seq2Seq::Seq2Seq(const ModelConfig& config, Parameters& p)
    : config_(checked(config)),
      source_(p, source_table(config), config.tokens().vocabulary, config.tokens().embedding,
              {.scaled = config.tokens().scaled_embeddings}),
      encoder_(make_encoder(config.encoder, config.tokens().embedding, p)),
      generator_(config.generator(), encoder_->width(), p, source_table(config)) {
  if (config.layers_start()) encoder_->keep_last_states();
  const auto* turns = std::get_if<TurnSourceConfig>(&config.source);
  if (turns != nullptr) turns_ = std::make_unique<const TurnParts>(*turns, encoder_->width(), p);
}

Seq2Seq::~Seq2Seq() = default;

Var Seq2Seq::embed(const Tokens& source) const {
  return source_(source.ids, {source.batch, source.length});
}

Memory Seq2Seq::read(const Tokens& source, Pass& pass, bool want_attention) const {
  Var embedded = embed(source);
  if (pass.interventions != nullptr) embedded = without_masked(embedded, *pass.interventions);
  pass.note("source", "embedding", embedded);
  if (!turns_) return encoder_->encode({embedded, source.lengths}, pass, want_attention);
  const TurnPlaces places(source);
  if (turns_->attention) return turns_->attention->encode(*encoder_, embedded, source, places, pass, want_attention);
  return encoder_->encode({turns_->embedding->add_to(embedded, places), source.lengths}, pass, want_attention);
}

Memory Seq2Seq::encode(const Tokens& source, Pass& pass, bool want_attention) const {
  Memory memory = read(source, pass, want_attention);
  memory.copies = source.copies;
  return memory;
}

BatchLoss Seq2Seq::loss(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                        const LossOptions& how, Pass& pass) const {
  const Memory memory = encode(source, pass);
  return generator_.loss(&memory, target, wanted, how, pass);
}

void Seq2Seq::score(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                    std::span<double> log_probabilities) const {
  const NoGrad quiet;
  Pass pass;
  const Memory memory = encode(source, pass);
  generator_.score(&memory, target, wanted, log_probabilities);
}

std::unique_ptr<Stepper> Seq2Seq::start(const Memory& memory, bool want_attention, const AttentionChoice& which,
                                        const Interventions* interventions) const {
  return generator_.start(&memory, memory.states.dim(0), want_attention, which, interventions);
}

}  // namespace fovea
