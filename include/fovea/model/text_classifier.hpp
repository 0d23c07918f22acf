// Source, encoder and classifier: tokens in, a label out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/model/classifier_head.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/nn/row_table.hpp"

namespace FOVEA_API fovea {

/// A view of texts as a classifier reads them, with arrays that live as long as those of Tokens.
struct TextBatch {
  /// Tokens alone are texts of one sentence each.
  TextBatch(const Tokens& rows) : tokens(rows) {}  // NOLINT(google-explicit-constructor)

  Tokens tokens;                                        // a row is a text, or a sentence of one
  std::span<const std::int32_t> bag_ids{}, bag_ends{};  // of a source of n-grams: a bag for each place of `tokens`
  std::span<const std::int64_t> sentences{};            // for hierarchical pooling: how many rows each text has
};

/// Belongs to one thread at a time; other threads build their own from Parameters::replica().
class TextClassifier {
 public:
  /// Builds the model from the weights in `parameters` and makes missing ones. Throws UsageError for an invalid
  /// configuration.
  TextClassifier(const ModelConfig& config, Parameters& parameters);

  [[nodiscard]] const ModelConfig& config() const { return config_; }  // its configuration
  [[nodiscard]] const ClassifierHead& head() const { return head_; }   // reads the memory
  /// The vectors of words and n-grams.
  [[nodiscard]] const RowTable& table() const { return source_; }
  /// The vectors of the tokens, [rows, length, width].
  [[nodiscard]] Var embed(const TextBatch& texts) const;
  /// The memory of the vectors from embed().
  [[nodiscard]] Memory encode(const Var& embedded, const TextBatch& texts, Pass& pass,
                              bool want_attention = false) const;
  /// embed() and encode().
  [[nodiscard]] Memory encode(const TextBatch& texts, Pass& pass) const { return encode(embed(texts), texts, pass); }
  /// `labels` [texts], each 0 to labels - 1.
  [[nodiscard]] BatchLoss loss(const TextBatch& texts, std::span<const std::int32_t> labels, const LossOptions& how,
                               Pass& pass) const;

 private:
  ModelConfig config_;
  RowTable source_;
  std::unique_ptr<Encoder> encoder_;
  ClassifierHead head_;
};

}  // namespace fovea
