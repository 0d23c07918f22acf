// What a frozen CNN makes of a training's pictures, computed once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/mapped_file.hpp"
#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/tensor.hpp"
#include "tasks/captioning/picture_store.hpp"

namespace fovea {

/// Features [regions, channels] of each picture, as 16-bit floats: in memory, or where that would be more than
/// `in_memory` bytes in a file, which is mapped and taken as it is when it was made from the same pictures and weights.
class FeatureCache {
 public:
  FeatureCache(const ModelConfig& config, const Parameters& parameters, const PictureStore& pictures,
               const std::filesystem::path& file, std::int64_t in_memory = std::int64_t{256} << 20);

  /// [which, regions, channels]; of pictures that cannot be read, zeros.
  [[nodiscard]] Tensor features(std::span<const std::int64_t> which) const;

 private:
  void compute(const ModelConfig& config, const Parameters& parameters, const PictureStore& pictures,
               std::span<std::uint16_t> to, std::int64_t first, std::int64_t count) const;

  std::int64_t regions_, channels_;
  std::vector<std::uint16_t> held_;
  std::shared_ptr<MappedFile> mapped_;
  std::span<const std::uint16_t> values_;
};

/// Nearest 16-bit float; what is too large becomes the largest.
[[nodiscard]] std::uint16_t half_of(float value);

}  // namespace fovea
