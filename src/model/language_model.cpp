#include "fovea/model/language_model.hpp"

#include "fovea/error.hpp"

namespace fovea {
namespace {

const ModelConfig& checked_language_model(const ModelConfig& config) {
  config.check();
  if (!std::holds_alternative<NoSourceConfig>(config.source)) {
    throw UsageError(std::string("source: must be none for a language model, is ") + kind_of(config.source));
  }
  return config;
}

}  // namespace

LanguageModel::LanguageModel(const ModelConfig& config, Parameters& p)
    : config_(checked_language_model(config)), generator_(config.generator(), 0, p) {}

}  // namespace fovea
