// Pictures, an encoder and a generator: pictures in, text out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/model/picture_source.hpp"

namespace FOVEA_API fovea {

/// Belongs to one thread at a time; other threads build their own from Parameters::replica().
class PictureModel {
 public:
  /// Builds the model from the weights in `parameters` and makes missing ones. Throws UsageError for an invalid
  /// configuration.
  PictureModel(const ModelConfig& config, Parameters& parameters);

  /// Its configuration.
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  /// The CNN's features of pictures, [batch, regions, channels]; see PictureSource.
  [[nodiscard]] Var features(std::span<const Picture* const> pictures) const { return source_.features(pictures); }
  /// Features as a memory. `lengths` [batch], the number of regions for each, outlive it.
  [[nodiscard]] Memory encode(const Var& features, std::span<const std::int64_t> lengths, Pass& pass,
                              bool want_attention = false) const;
  /// The head.
  [[nodiscard]] const Generator& generator() const { return generator_; }

 private:
  ModelConfig config_;
  PictureSource source_;
  std::unique_ptr<Encoder> encoder_;
  Generator generator_;
};

}  // namespace fovea
