// What a Completer holds, and its part of the generation pipeline.
#pragma once

#include <memory>

#include "fovea/completer.hpp"
#include "fovea/model/language_model.hpp"
#include "tasks/generation/pipeline.hpp"

namespace fovea {

struct Completer::Loaded final : GenerationTask {
  const Tokenizers both;  // the target's alone
  const std::unique_ptr<PackedModel<LanguageModel>> model;

  Loaded(const ModelConfig& of, Tokenizers tokenizers, Parameters weights, const LoadOptions& how = {})
      : both(std::move(tokenizers)), model(std::make_unique<PackedModel<LanguageModel>>(of, std::move(weights), how)) {}

  [[nodiscard]] const ModelConfig& config() const override { return model->config; }
  [[nodiscard]] const Tokenizers& tokenizers() const override { return both; }
  [[nodiscard]] SearchRules rules() const override;
  [[nodiscard]] std::unique_ptr<const ReadBatch> read(const BatchRequest& batch) const override;
  void write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions& options,
             Generated& output) const override;
};

}  // namespace fovea
