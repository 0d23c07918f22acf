// Convolutional decoder with attention in every block (Gehring et al. 2017, sections 3.3 and 3.4).
#pragma once

#include <vector>

#include "model/decoder.hpp"
#include "nn/gated_convolution.hpp"
#include "nn/linear.hpp"
#include "nn/positions.hpp"

namespace fovea {

class CnnDecoder final : public Decoder {
 public:
  CnnDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& parameters);
  [[nodiscard]] Decoded decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                               bool want_attention) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory& memory, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return embedding_; }

 private:
  friend class CnnState;
  struct Layer {
    GatedConvolution convolution;
    Linear query;    // state → embedding: what is looked for
    Linear context;  // embedding → state
  };
  // What the convolution gave, and the embeddings it came from: looks at the memory and adds what it saw.
  [[nodiscard]] Var look(const Layer& layer, const Var& y, const Var& embedded, const Var& keys, const Var& values,
                         std::span<const std::int64_t> lengths, Tensor* weights) const;
  [[nodiscard]] Var keys(const Memory& memory) const;
  [[nodiscard]] Var values(const Memory& memory) const;

  std::int64_t embedding_;
  std::int64_t kernel_;
  PositionEmbedding positions_;
  Linear in_, out_;
  Linear memory_;  // to the width of embeddings, when the memory's is another
  std::vector<Layer> layers_;
};

}  // namespace fovea
