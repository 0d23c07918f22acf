// SqueezeNet 1.1 (Iandola et al. 2016) up to its last fire layer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/nn/convolution.hpp"
#include "model/pictures/picture_net.hpp"

namespace fovea {

/// A convolution of 3x3 and stride 2, then eight fire layers with pooling before the first, third and fifth. A fire
/// layer squeezes by a 1x1 convolution and expands by a 1x1 and a 3x3 one side by side; each is followed by a
/// rectifier.
class SqueezeNet final : public PictureNet {
 public:
  SqueezeNet(Parameters& parameters, const std::string& name);
  [[nodiscard]] Var operator()(const Var& pixels) const override;

  static constexpr int kConvolutions = 25;

 private:
  std::vector<Conv2d> convolutions_;  // in the order of the network
};

/// The weights of SqueezeNet 1.1 from a folder of .npy files (squeezenet0_convI_weight.npy and _bias.npy, [out, in,
/// height, width]) or a .safetensors file with the same names or torchvision's (features.0.weight,
/// features.3.squeeze.weight …), into `parameters` under NAME.…. Its classifier is left out. Throws FileError naming
/// the file and what is missing or of another shape.
void put_squeezenet_weights(const std::filesystem::path& from, Parameters& parameters, const std::string& name);

}  // namespace fovea
