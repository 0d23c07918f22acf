// No encoder: the memory is the source's vectors as they are.
#pragma once

#include "fovea/model/encoder.hpp"

namespace fovea {

class NoEncoder final : public Encoder {
 public:
  NoEncoder(const NoEncoderConfig&, std::int64_t input, Parameters&, const std::string&) : width_(input) {}
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool) const override {
    return {.states = pass.drop(input.values), .lengths = input.lengths};
  }
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  std::int64_t width_;
};

}  // namespace fovea
