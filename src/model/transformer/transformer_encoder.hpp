// Self-attention encoder (Vaswani et al. 2017, section 3.1).
#pragma once

#include <string>

#include "fovea/model/encoder.hpp"
#include "model/transformer/stack.hpp"

namespace fovea {

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(const TransformerConfig& config, std::int64_t /*input*/, Parameters& parameters,
                     const std::string& name)
      : stack_(config, 0, parameters, name) {}
  [[nodiscard]] Memory encode(const Sequence& input, Pass& pass, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return stack_.config.dim; }

 private:
  TransformerStack stack_;
};

}  // namespace fovea
