#include "fovea/model/picture_source.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "model/pictures/picture_net.hpp"
#include "model/pictures/small_net.hpp"
#include "model/pictures/squeezenet.hpp"

namespace fovea {
namespace {

// Mean and deviation of ImageNet's pixels (red, green, blue), which SqueezeNet's weights were trained with.
constexpr float kMean[] = {0.485F, 0.456F, 0.406F};
constexpr float kDeviation[] = {0.229F, 0.224F, 0.225F};

Tensor normalised(std::span<const Picture* const> pictures, std::int64_t size) {
  const Tensor out = Tensor::empty({static_cast<std::int64_t>(pictures.size()), size, size, 3});
  const std::int64_t values = size * size * 3;
  parallel_for(static_cast<std::int64_t>(pictures.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const Picture& picture = *pictures[static_cast<std::size_t>(b)];
      if (picture.width != size || picture.height != size) {
        throw ShapeError(
            fmt::format("picture: must be {2}x{3} pixels, is {0}x{1}", picture.width, picture.height, size, size));
      }
      float* to = out.data() + b * values;
      for (std::int64_t i = 0; i < values; ++i) {
        const float v = static_cast<float>(picture.rgb[static_cast<std::size_t>(i)]) / 255;
        to[i] = (v - kMean[i % 3]) / kDeviation[i % 3];
      }
    }
  });
  return out;
}

}  // namespace

std::unique_ptr<PictureNet> make_picture_net(const PictureSourceConfig& config, Parameters& parameters,
                                             const std::string& name) {
  if (config.picture_encoder == PictureEncoder::small) return std::make_unique<SmallNet>(config, parameters, name);
  return std::make_unique<SqueezeNet>(parameters, name);
}

PictureSource::PictureSource(const PictureSourceConfig& config, Parameters& p)
    : config_(config),
      net_(make_picture_net(config, p, "picture")),
      norm_(p, "source.norm", config.channels()),
      project_(p, "source.project", config.channels(), config.embedding),
      rows_(p.get("source.rows", {config.grid(), config.embedding}, Init::normal(0.1))),
      columns_(p.get("source.columns", {config.grid(), config.embedding}, Init::normal(0.1))) {
  const auto side = static_cast<std::int32_t>(config.grid());
  for (std::int32_t r = 0; r < side * side; ++r) {
    row_of_.push_back(r / side);
    column_of_.push_back(r % side);
  }
}

PictureSource::~PictureSource() = default;
PictureSource::PictureSource(PictureSource&&) noexcept = default;

Var PictureSource::features(std::span<const Picture* const> pictures) const {
  const Var grid = (*net_)(normalised(pictures, config_.picture_size));
  return reshape(grid, {grid.dim(0), grid.dim(1) * grid.dim(2), grid.dim(3)});
}

Var PictureSource::regions(const Var& features) const {
  return add_rows(project_(norm_(features)), add(gather(rows_, row_of_), gather(columns_, column_of_)));
}

void put_picture_weights(const std::filesystem::path& from, const PictureSourceConfig& config, Parameters& parameters) {
  if (config.picture_encoder != PictureEncoder::squeezenet) {
    throw UsageError("picture_weights",
                     fmt::format("the picture encoder must be squeezenet, is {}", enum_text(config.picture_encoder)));
  }
  put_squeezenet_weights(from, parameters, "picture");
}

}  // namespace fovea
