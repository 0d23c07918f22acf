// Convolutional layers.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/convolution.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// Options of TimeConvolution and GatedConvolution.
struct TimeConvolutionOptions {
  std::int64_t kernel = 1;  // steps that an output reads
};

/// A convolution over time.
struct TimeConvolution {
  TimeConvolution() = default;
  /// Weights NAME.weight and NAME.bias.
  TimeConvolution(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out,
                  const TimeConvolutionOptions& options = {})
      : weight(p.matrix(name + ".weight", {options.kernel * in, out}, Init::xavier)),
        bias(p.get(name + ".bias", {out}, Init::zeros)) {}

  /// x [batch, time, in] to [batch, time, out].
  [[nodiscard]] Var operator()(const Var& x, Conv1dOptions how = {}) const {
    how.packed = weight.packed.get();
    return conv1d(x, weight.values_for(x), bias, how);
  }

  Weight weight{};  // [kernel * in, out]
  Var bias{};       // [out]
};

/// A convolution over time with a gated linear unit (Dauphin et al. 2017).
struct GatedConvolution {
  GatedConvolution() = default;
  /// Weights NAME.weight and NAME.bias.
  GatedConvolution(Parameters& p, const std::string& name, std::int64_t width,
                   const TimeConvolutionOptions& options = {})
      : weight(p.matrix(name + ".weight", {options.kernel * width, 2 * width}, Init::xavier)),
        bias(p.get(name + ".bias", {2 * width}, Init::zeros)) {}

  /// x [batch, time, width] to the same shape.
  [[nodiscard]] Var operator()(const Var& x, Conv1dOptions how = {}) const {
    how.packed = weight.packed.get();
    return conv1d_glu(x, weight.values_for(x), bias, how);
  }
  /// One position, for decoding: the kernel's inputs side by side [rows, kernel * width] to [rows, width].
  [[nodiscard]] Tensor step(const Tensor& window) const;

  Weight weight{};  // [kernel * width, 2 * width]
  Var bias{};       // [2 * width]
};

/// A convolution over pictures: [batch, height, width, in] to [batch, height', width', out].
struct Conv2d {
  Conv2d() = default;
  /// Weights NAME.weight and NAME.bias.
  Conv2d(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, const Window2d& over)
      : weight(p.get(name + ".weight", {over.height * over.width * in, out}, Init::xavier)),
        bias(p.get(name + ".bias", {out}, Init::zeros)),
        window(over) {}
  /// f(x * weight + bias): x [batch, height, width, in] to [batch, height', width', out].
  [[nodiscard]] Var operator()(const Var& x, Activation activation = Activation::none) const {
    return conv2d(x, weight, bias, window, activation);
  }

  Var weight{};       // [window.height * window.width * in, out]
  Var bias{};         // [out]
  Window2d window{};  // size, stride and padding
};

}  // namespace fovea
