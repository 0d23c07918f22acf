// Source, encoder and classifier: tokens in, a label out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/model/classifier_head.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/parameters.hpp"

namespace fovea {

/// Belongs to one thread at a time; other threads build their own from Parameters::replica().
class TextClassifier {
 public:
  /// Builds the model, taking from `parameters` what is there and making what is not. Throws UsageError for a
  /// configuration that cannot be.
  TextClassifier(const ModelConfig& config, Parameters& parameters);

  [[nodiscard]] const ModelConfig& config() const { return config_; }  // what it is made of
  [[nodiscard]] const ClassifierHead& head() const { return head_; }   // what reads the memory
  /// The memory of a batch; `want_attention`: the encoder's weights too.
  [[nodiscard]] Memory encode(const Tokens& source, Pass& pass, bool want_attention = false) const;
  /// `labels` [batch]; `penalty` as ClassifierHead::loss takes it.
  [[nodiscard]] BatchLoss loss(const Tokens& source, std::span<const std::int32_t> labels, const LossOptions& how,
                               float penalty, Pass& pass) const;

 private:
  ModelConfig config_;
  Embedding source_;
  std::unique_ptr<Encoder> encoder_;
  ClassifierHead head_;
};

}  // namespace fovea
