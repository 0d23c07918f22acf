// A residual CNN small enough to be trained from scratch on a CPU. The resolution halves four times while the channels
// double. The last three times residual blocks follow, of a 1x1, a 3x3 and a 1x1 convolution (He et al. 2016). A layer
// norm over the channels of a pixel before them replaces batch norm, so that a picture's features do not depend on its
// batch.
#include "model/pictures/small_net.hpp"

#include <algorithm>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr Window2d kHalve{.height = 3, .width = 3, .stride_y = 2, .stride_x = 2, .pad_y = 1, .pad_x = 1};
constexpr Window2d kSame{.height = 3, .width = 3, .pad_y = 1, .pad_x = 1};
constexpr Window2d kPixel{};

}  // namespace

SmallNet::SmallNet(const PictureSourceConfig& config, Parameters& p, const std::string& name) {
  const auto width = [&](int halvings) {  // before the last `halvings`
    return std::max<std::int64_t>(8, config.picture_channels >> halvings);
  };
  stem_ = Conv2d(p, name + ".stem", 3, width(3), kHalve);
  for (int s = 0; s < 3; ++s) {
    const std::string at = name + "." + std::to_string(s);
    const std::int64_t in = width(3 - s);
    const std::int64_t out = s == 2 ? config.picture_channels : width(2 - s);
    Stage stage;
    stage.norm = LayerNorm(p, at + ".norm", in);
    stage.down = Conv2d(p, at + ".down", in, out, kHalve);
    for (int b = 0; b < config.picture_blocks; ++b) {
      const std::string block = at + "." + std::to_string(b);
      const std::int64_t inner = std::max<std::int64_t>(4, out / 2);
      stage.blocks.push_back({LayerNorm(p, block + ".norm", out), Conv2d(p, block + ".first", out, inner, kPixel),
                              Conv2d(p, block + ".middle", inner, inner, kSame),
                              Conv2d(p, block + ".last", inner, out, kPixel)});
    }
    stages_.push_back(std::move(stage));
  }
}

Var SmallNet::operator()(const Var& pixels) const {
  Var x = stem_(pixels, Activation::relu);
  for (const Stage& stage : stages_) {
    x = stage.down(stage.norm(x), Activation::relu);
    for (const Block& block : stage.blocks) {
      const Var inner = block.middle(block.first(block.norm(x), Activation::relu), Activation::relu);
      x = add(x, block.last(inner));
    }
  }
  return x;
}

}  // namespace fovea
