#include "model/pictures/squeezenet.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/npy.hpp"
#include "fovea/ops.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {
namespace {

struct Layer {
  std::int64_t in, out, side;  // of the window
  std::string torch;           // torchvision's name
};

// All 25 in their order: the stem, then squeeze, expand 1x1 and expand 3x3 of fire 2 to 9.
std::vector<Layer> squeezenet_layers() {
  std::vector<Layer> all{{3, 64, 3, "features.0"}};
  std::int64_t in = 64;
  const int places[] = {3, 4, 6, 7, 9, 10, 11, 12};  // of the fire layers in torchvision's list
  for (int fire = 0; fire < 8; ++fire) {
    const std::int64_t squeeze = 16 * (fire / 2 + 1);
    const std::int64_t expand = 4 * squeeze;
    const std::string at = fmt::format("features.{}", places[fire]);
    all.push_back({in, squeeze, 1, at + ".squeeze"});
    all.push_back({squeeze, expand, 1, at + ".expand1x1"});
    all.push_back({squeeze, expand, 3, at + ".expand3x3"});
    in = 2 * expand;
  }
  return all;
}

constexpr Window2d kPool{.height = 3, .width = 3, .stride_y = 2, .stride_x = 2};

// [out, in, height, width] as files have it to [height width in, out] as conv2d() takes it.
Tensor window_major(const Tensor& w) {
  const std::int64_t out = w.dim(0), in = w.dim(1), area = w.dim(2) * w.dim(3);
  const Tensor from = w.contiguous();
  const Tensor to = Tensor::empty({area * in, out});
  for (std::int64_t o = 0; o < out; ++o) {
    for (std::int64_t i = 0; i < in; ++i) {
      for (std::int64_t k = 0; k < area; ++k) to.data()[(k * in + i) * out + o] = from.data()[(o * in + i) * area + k];
    }
  }
  return to;
}

}  // namespace

SqueezeNet::SqueezeNet(Parameters& p, const std::string& name) {
  const auto layers = squeezenet_layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t side = layers[i].side;
    Window2d window{.height = side, .width = side};
    if (i == 0) {
      window.stride_y = window.stride_x = 2;
    } else {
      window.pad_y = window.pad_x = side / 2;
    }
    convolutions_.emplace_back(p, fmt::format("{}.{}", name, i), layers[i].in, layers[i].out, window);
  }
}

Var SqueezeNet::operator()(const Var& pixels) const {
  Var x = convolutions_[0](pixels, Activation::relu);
  for (std::size_t fire = 0; fire < 8; ++fire) {
    if (fire == 0 || fire == 2 || fire == 4) x = max_pool2d(x, kPool);
    const Conv2d* layer = &convolutions_[1 + 3 * fire];
    const Var squeezed = layer[0](x, Activation::relu);
    const Var parts[] = {layer[1](squeezed, Activation::relu), layer[2](squeezed, Activation::relu)};
    x = concat(parts, 3);
  }
  return x;
}

void put_squeezenet_weights(const std::filesystem::path& from, Parameters& parameters, const std::string& name) {
  const bool folder = std::filesystem::is_directory(from);
  if (!folder && !std::filesystem::exists(from)) {
    throw FileError(fmt::format("{}: no such file or folder", from.string()));
  }
  std::optional<Safetensors> file;
  if (!folder) file.emplace(from);
  const auto layers = squeezenet_layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const auto read = [&](const char* part) {
      const std::string mxnet = fmt::format("squeezenet0_conv{}_{}", i, part);
      if (folder) return read_npy(from / (mxnet + ".npy"));
      return file->tensor(file->contains(mxnet) ? mxnet : fmt::format("{}.{}", layer.torch, part)).clone();
    };
    const Tensor weight = read("weight");
    const Tensor bias = read("bias");
    if (!(weight.shape() == Shape{layer.out, layer.in, layer.side, layer.side}) ||
        !(bias.shape() == Shape{layer.out})) {
      throw FileError(fmt::format("{}: convolution {} has weights {} and bias {}; SqueezeNet 1.1 has [{},{},{},{}]",
                                  from.string(), i, weight.shape().text(), bias.shape().text(), layer.out, layer.in,
                                  layer.side, layer.side));
    }
    parameters.put(fmt::format("{}.{}.weight", name, i), window_major(weight));
    parameters.put(fmt::format("{}.{}.bias", name, i), bias);
  }
}

}  // namespace fovea
