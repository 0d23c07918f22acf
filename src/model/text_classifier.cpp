#include "fovea/model/text_classifier.hpp"

namespace fovea {
namespace {

const ModelConfig& checked(const ModelConfig& config) {
  config.check();
  return config;
}

}  // namespace

TextClassifier::TextClassifier(const ModelConfig& config, Parameters& p)
    : config_(checked(config)),
      source_(p, "source.embedding", config.tokens().vocabulary, config.tokens().embedding,
              config.tokens().scaled_embeddings),
      encoder_(make_encoder(config.encoder, config.tokens().embedding, p)),
      head_(config.classifier(), encoder_->width(), p) {}

Memory TextClassifier::encode(const Tokens& source, Pass& pass, bool want_attention) const {
  return encoder_->encode({source_(source.ids, {source.batch, source.length}), source.lengths}, pass, want_attention);
}

BatchLoss TextClassifier::loss(const Tokens& source, std::span<const std::int32_t> labels, const LossOptions& how,
                               float penalty, Pass& pass) const {
  return head_.loss(encode(source, pass), labels, how, penalty, pass);
}

}  // namespace fovea
