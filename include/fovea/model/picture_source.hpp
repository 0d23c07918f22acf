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

/// Pictures to regions. The CNN's output is normalised and projected to the width of the model; learned vectors of its
/// row and column are added to each region.
class PictureSource {
 public:
  /// Weights picture.… of the CNN and source.… of the rest.
  PictureSource(const PictureSourceConfig& config, Parameters& parameters);
  ~PictureSource();
  PictureSource(PictureSource&&) noexcept;

  /// The CNN's features of pictures of the config's size, [batch, regions, channels].
  [[nodiscard]] Var features(std::span<const Picture* const> pictures) const;
  /// Features to the encoder's input, [batch, regions, embedding].
  [[nodiscard]] Var regions(const Var& features) const;

 private:
  PictureSourceConfig config_;
  std::unique_ptr<PictureNet> net_;
  LayerNorm norm_;
  Linear project_;
  Var rows_, columns_;                            // [grid, embedding]
  std::vector<std::int32_t> row_of_, column_of_;  // of each region
};

/// Puts pretrained weights of the CNN into `parameters` before the model is built. Throws FileError naming what is
/// wrong, UsageError when the config's CNN has no pretrained weights.
void put_picture_weights(const std::filesystem::path& from, const PictureSourceConfig& config, Parameters& parameters);

/// The names of the CNN's weights begin with this.
inline constexpr const char* kPictureWeights = "picture.";

}  // namespace fovea
