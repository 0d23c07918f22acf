#include "fovea/model/picture_model.hpp"

namespace fovea {
namespace {

const ModelConfig& checked_pictures(const ModelConfig& config) {
  config.check();
  return config;
}

}  // namespace

PictureModel::PictureModel(const ModelConfig& config, Parameters& p)
    : config_(checked_pictures(config)),
      source_(config.pictures(), p),
      encoder_(make_encoder(config.encoder, config.pictures().embedding, p)),
      generator_(config.generator(), encoder_->width(), p) {
  if (config.layers_start()) encoder_->keep_last_states();
}

Memory PictureModel::encode(const Var& features, std::span<const std::int64_t> lengths, Pass& pass,
                            bool want_attention) const {
  return encoder_->encode({source_.regions(features), lengths}, pass, want_attention);
}

}  // namespace fovea
