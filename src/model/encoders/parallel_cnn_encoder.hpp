// Convolutions of several widths side by side (Kim 2014), each with a bias and ReLU.
#pragma once

#include <string>
#include <vector>

#include "fovea/model/encoder.hpp"
#include "fovea/nn/convolution.hpp"

namespace fovea {

class ParallelCnnEncoder final : public Encoder {
 public:
  ParallelCnnEncoder(const ParallelCnnConfig& config, std::int64_t input, Parameters& parameters,
                     const std::string& name);
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  std::string name_;
  std::int64_t width_;
  std::vector<TimeConvolution> convolutions_;
};

}  // namespace fovea
