// Convolutional decoder with attention in every block (Gehring et al. 2017, sections 3.3 and 3.4). Without a memory the
// blocks are convolutions alone.
#pragma once

#include <vector>

#include "fovea/model/decoder.hpp"
#include "fovea/nn/convolution.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/nn/positions.hpp"

namespace fovea {

class CnnDecoder final : public Decoder {
 public:
  CnnDecoder(const CnnConfig& config, const DecoderSizes& sizes, Parameters& parameters, const std::string& name);
  [[nodiscard]] Decoded decode(const Memory* memory, const Sequence& target, Pass& pass,
                               const DecoderAttention& want) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows,
                                                    bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return embedding_; }

 private:
  friend class CnnState;
  struct Layer {
    GatedConvolution convolution;
    Linear query;    // state → embedding; only with a memory
    Linear context;  // embedding → state
  };
  // What the convolution gave, y, and the context it attends to: (y + context) / sqrt 2. `weights` gets [batch,
  // queries, keys] unless null.
  [[nodiscard]] Var attend_in(const Layer& layer, const Var& y, const Var& embedded, const Var& keys, const Var& values,
                              std::span<const std::int64_t> lengths, Var* weights) const;
  [[nodiscard]] Var keys(const Memory& memory) const;
  [[nodiscard]] Var values(const Memory& memory) const;

  std::int64_t embedding_;
  std::int64_t kernel_;
  bool attends_;
  PositionEmbedding positions_;
  Linear in_, out_;
  Linear memory_;  // to the width of embeddings, when the memory's is another
  std::vector<Layer> layers_;
};

}  // namespace fovea
