// A small residual CNN.
#pragma once

#include <string>
#include <vector>

#include "fovea/nn/convolution.hpp"
#include "fovea/nn/layer_norm.hpp"
#include "model/pictures/picture_net.hpp"

namespace fovea {

class SmallNet final : public PictureNet {
 public:
  SmallNet(const PictureSourceConfig& config, Parameters& parameters, const std::string& name);
  [[nodiscard]] Var operator()(const Var& pixels) const override;

 private:
  struct Block {
    LayerNorm norm;
    Conv2d first, middle, last;
  };
  struct Stage {
    LayerNorm norm;
    Conv2d down;
    std::vector<Block> blocks;
  };
  Conv2d stem_;
  std::vector<Stage> stages_;
};

}  // namespace fovea
