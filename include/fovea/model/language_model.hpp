// A generator without a source: a language model.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/model/config.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// A decoder without a source. Belongs to one thread at a time; other threads build their own from
/// Parameters::replica().
///
///     const LanguageModel model(config, parameters);  // config.source is a NoSourceConfig
///     model.score(target, wanted, log_probabilities);
class LanguageModel {
 public:
  /// Builds the model from the weights in `parameters` and makes missing ones. Throws UsageError for an invalid
  /// configuration.
  LanguageModel(const ModelConfig& config, Parameters& parameters);

  /// Its configuration.
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  /// The whole model.
  [[nodiscard]] const Generator& generator() const { return generator_; }

  /// Teacher-forced: `target` starts with <s>; `wanted` [batch * length] are the tokens to predict, 0 where padding.
  [[nodiscard]] BatchLoss loss(const Tokens& target, std::span<const std::int32_t> wanted, const LossOptions& how,
                               Pass& pass) const {
    return generator_.loss(nullptr, target, wanted, how, pass);
  }
  /// log p of each row's wanted tokens.
  void score(const Tokens& target, std::span<const std::int32_t> wanted, std::span<double> log_probabilities) const {
    generator_.score(nullptr, target, wanted, log_probabilities);
  }
  /// The decoder at the start of `rows` texts.
  [[nodiscard]] std::unique_ptr<Stepper> start(std::int64_t rows) const {
    return generator_.start(nullptr, rows, false);
  }

 private:
  ModelConfig config_;
  Generator generator_;
};

}  // namespace fovea
