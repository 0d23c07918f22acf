// A recurrent decoder a token at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/decoders/rnn_decoder.hpp"

namespace fovea {

/// The states of layers that do not attend, and the cells of LSTMs, per layer [rows, width].
struct LayerStates {
  /// The first states of the layers from `begin` on.
  LayerStates(const RnnDecoder& decoder, const RnnDecoder::Start& start, std::size_t begin);
  void keep(std::span<const std::int32_t> rows);
  std::vector<Tensor> states, cells;
};

/// With attention: the same steps as the time loop of training.
class RnnState final : public DecoderState {
 public:
  RnnState(const RnnDecoder& decoder, const Memory& memory, bool want_attention,
           const Interventions* interventions = nullptr);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  const RnnDecoder& decoder_;
  bool want_attention_;
  const Interventions* interventions_;
  std::int64_t length_ = 0;
  std::shared_ptr<const PackedAttentionalRnn> packed_;
  std::optional<AttentionalRnnStepper> stepper_;
  std::shared_ptr<const RnnDecoder::PackedLayers> layers_;  // above the layer that attends
  std::optional<LayerStates> above_;
  std::vector<Tensor> weights_;  // of the last step, [rows, 1, source length]
};

/// Without attention: the memory's summary, if there is a memory, is fed at every step.
class PlainRnnState final : public DecoderState {
 public:
  PlainRnnState(const RnnDecoder& decoder, const Memory* memory, std::int64_t rows);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;

 private:
  const RnnDecoder& decoder_;
  std::shared_ptr<const RnnDecoder::PackedLayers> layers_;
  std::optional<LayerStates> at_;
  Tensor fed_;      // [rows, gates width]: the summary's part of the first layer's sums
  Tensor context_;  // [rows, width]: its part of the output
};

}  // namespace fovea
