// Convolutional decoder with attention in every block (Gehring et al. 2017, sections 3.3 and 3.4). Without a memory the
// blocks are convolutions alone.
#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "fovea/attention/attend.hpp"
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
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                    const Interventions* interventions) const override;
  [[nodiscard]] std::int64_t width() const override { return embedding_; }

 private:
  friend class CnnStepper;
  static constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two values
  struct Layer {
    GatedConvolution convolution;
    Linear query;      // state → embedding; only with a memory
    Linear context;    // embedding → state
    std::string name;  // "decoder.0"
  };
  // (y + context) / sqrt 2, where y is the convolution's output. `how` has the lengths and what is reported in
  // `result`.
  [[nodiscard]] Var attend_in(const Layer& layer, const Var& y, const Var& embedded, const Var& keys, const Var& values,
                              AttendOptions how, Attended& result) const;
  [[nodiscard]] Var keys(const Memory& memory) const;
  [[nodiscard]] Var values(const Memory& memory) const;

  std::int64_t embedding_;
  std::string name_;
  std::int64_t kernel_;
  bool attends_;
  PositionEmbedding positions_;
  Linear in_, out_;
  Linear memory_;  // to the width of embeddings, if the memory has another
  std::vector<Layer> layers_;
};

}  // namespace fovea
