// Transformer decoder: causal self-attention, attention to the memory, feed-forward (Vaswani et al. 2017, section 3.1).
// The configuration may replace self-attention by an SSRU or by average attention. Without a memory it is a language
// model.
#pragma once

#include <string>

#include "fovea/model/decoder.hpp"
#include "model/transformer/stack.hpp"

namespace fovea {

class TransformerDecoder final : public Decoder {
 public:
  TransformerDecoder(const TransformerConfig& config, const DecoderSizes& sizes, Parameters& parameters,
                     const std::string& name)
      : stack_(config, sizes.memory, parameters, name) {}
  [[nodiscard]] Decoded decode(const Memory* memory, const Sequence& target, Pass& pass,
                               const DecoderAttention& want) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                    const Interventions* interventions) const override;
  [[nodiscard]] std::int64_t width() const override { return stack_.config.dim; }

 private:
  TransformerStack stack_;
};

}  // namespace fovea
