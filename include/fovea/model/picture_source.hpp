// Pictures as the source of a model: a CNN makes a grid of regions of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/picture.hpp"

namespace FOVEA_API fovea {

class PictureNet;

/// Pictures to regions. What the CNN gives is normalised, projected to the width of the model, and knows its row and
/// column by learned vectors.
class PictureSource {
 public:
  /// Weights picture.… of the CNN and source.… of the rest.
  PictureSource(const PictureSourceConfig& config, Parameters& parameters);
  ~PictureSource();
  PictureSource(PictureSource&&) noexcept;

  /// Pictures of the config's size to what the CNN makes of them, [batch, regions, channels].
  [[nodiscard]] Var features(std::span<const Picture* const> pictures) const;
  /// Features to what the encoder reads, [batch, regions, embedding].
  [[nodiscard]] Var regions(const Var& features) const;

 private:
  PictureSourceConfig config_;
  std::unique_ptr<PictureNet> net_;
  LayerNorm norm_;
  Linear project_;
  Var rows_, columns_;                            // [grid, embedding]
  std::vector<std::int32_t> row_of_, column_of_;  // of each region
};

/// Puts the CNN's weights, as others have trained them, into `parameters` before the model is built. Throws FileError
/// naming what is wrong, UsageError when the config's CNN is not one that such weights are for.
void put_picture_weights(const std::filesystem::path& from, const PictureSourceConfig& config, Parameters& parameters);

/// The names of the CNN's weights begin with this.
inline constexpr const char* kPictureWeights = "picture.";

}  // namespace fovea
