#include "fovea/model/seq2seq.hpp"

namespace fovea {
namespace {

const ModelConfig& checked(const ModelConfig& config) {
  config.check();
  return config;
}

std::string source_table(const ModelConfig& config) {
  return config.generator().tie == Tie::all ? "embedding" : "source.embedding";
}

}  // namespace

Seq2Seq::Seq2Seq(const ModelConfig& config, Parameters& p)
    : config_(checked(config)),
      source_(p, source_table(config), config.tokens().vocabulary, config.tokens().embedding,
              config.tokens().scaled_embeddings),
      encoder_(make_encoder(config.encoder, config.tokens().embedding, p)),
      generator_(config.generator(), encoder_->width(), p, source_table(config)) {}

Memory Seq2Seq::encode(const Tokens& source, Pass& pass, bool want_attention) const {
  return encoder_->encode({source_(source.ids, {source.batch, source.length}), source.lengths}, pass, want_attention);
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

std::unique_ptr<Stepper> Seq2Seq::start(const Memory& memory, bool want_attention, const AttentionChoice& which) const {
  return generator_.start(&memory, memory.states.dim(0), want_attention, which);
}

}  // namespace fovea
