#include "fovea/model/text_classifier.hpp"

#include "fovea/error.hpp"

namespace fovea {
namespace {

const ModelConfig& checked_classifier(const ModelConfig& config) {
  config.check();
  return config;
}

// Of the table: words, and behind them n-grams.
std::int64_t rows_of(const ModelConfig& config) {
  const auto* ngrams = std::get_if<NgramSourceConfig>(&config.source);
  return config.tokens().vocabulary + std::int64_t{ngrams != nullptr ? ngrams->buckets : 0};
}

}  // namespace

TextClassifier::TextClassifier(const ModelConfig& config, Parameters& p)
    : config_(checked_classifier(config)),
      source_(p, "source.embedding", rows_of(config), config.tokens().embedding,
              {.scaled = config.tokens().scaled_embeddings}),
      encoder_(make_encoder(config.encoder, config.tokens().embedding, p)),
      head_(config.classifier(), encoder_->width(), p) {}

Var TextClassifier::embed(const TextBatch& texts) const {
  const Shape shape{texts.tokens.batch, texts.tokens.length};
  if (!std::holds_alternative<NgramSourceConfig>(config_.source)) return source_(texts.tokens.ids, shape);
  return source_.bags(texts.bag_ids, texts.bag_ends, shape);
}

Memory TextClassifier::encode(const Var& embedded, const TextBatch& texts, Pass& pass, bool want_attention) const {
  return encoder_->encode({embedded, texts.tokens.lengths}, pass, want_attention);
}

BatchLoss TextClassifier::loss(const TextBatch& texts, std::span<const std::int32_t> labels, const LossOptions& how,
                               Pass& pass) const {
  return head_.loss(encode(texts, pass), texts.sentences, labels, how, pass);
}

}  // namespace fovea
