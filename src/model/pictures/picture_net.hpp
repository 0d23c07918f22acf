// The interface of picture encoders: pixels to a grid of regions.
#pragma once

#include <memory>
#include <string>

#include "fovea/model/config.hpp"
#include "fovea/nn/parameters.hpp"
#include "fovea/var.hpp"

namespace fovea {

/// A CNN over pictures.
class PictureNet {
 public:
  PictureNet() = default;
  virtual ~PictureNet() = default;
  PictureNet(const PictureNet&) = delete;
  PictureNet& operator=(const PictureNet&) = delete;
  /// Normalised pixels [batch, size, size, 3] to regions [batch, grid, grid, channels].
  [[nodiscard]] virtual Var operator()(const Var& pixels) const = 0;
};

/// Weights NAME.…
[[nodiscard]] std::unique_ptr<PictureNet> make_picture_net(const PictureSourceConfig& config, Parameters& parameters,
                                                           const std::string& name);

}  // namespace fovea
