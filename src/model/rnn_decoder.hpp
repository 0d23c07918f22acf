// Recurrent decoder: Bahdanau's, Luong's or the conditional form with any score, or the fixed context vector.
#pragma once

#include <memory>
#include <vector>

#include "fovea/attention.hpp"
#include "model/decoder.hpp"
#include "nn/linear.hpp"

namespace fovea {

/// Bahdanau et al. 2015: the previous state asks, the context enters the cell, and the output layer sees state, context
/// and input. Luong et al. 2015: the current state asks, and an attentional layer mixes state and context, fed back or
/// not. Conditional (Sennrich et al. 2017): a first cell reads the input, its state asks, the context enters a second
/// cell; the output layer is Bahdanau's. Without attention (Cho et al. 2014): the encoder's summary enters the cell at
/// every step.
class RnnDecoder final : public Decoder {
 public:
  RnnDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& parameters);
  [[nodiscard]] Decoded decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                               bool want_attention) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory& memory, bool want_attention) const override;
  [[nodiscard]] std::int64_t width() const override { return width_; }

 private:
  friend class RnnState;
  friend class PlainRnnState;
  struct Start {
    Var memory;                                    // [batch, length, memory width], what is looked at
    Var summary;                                   // [batch, width of the encoder]
    std::vector<Var, ArenaAllocator<Var>> states;  // per layer [batch, width]
  };
  [[nodiscard]] Start begin(const Memory& memory) const;
  [[nodiscard]] bool luong() const { return form_ == RnnForm::luong; }
  [[nodiscard]] bool conditional() const { return form_ == RnnForm::conditional; }
  [[nodiscard]] bool attends() const { return attention_ != RnnAttention::none; }
  [[nodiscard]] Var read_out(const Var& states, const Var& contexts, const Var& embedded) const;
  [[nodiscard]] Decoded decode_plain(const Start& start, const Var& embedded, const Tokens& target, Pass& pass) const;

  [[nodiscard]] AttentionalRnnOptions options() const;
  /// The weights of the time loop packed: those of the model, or, where it is still being trained, as they are now.
  [[nodiscard]] std::shared_ptr<const PackedAttentionalRnn> packed() const;
  [[nodiscard]] std::shared_ptr<const std::vector<RecurrentStepper>> packed_layers() const;

  std::int64_t embedding_, width_, memory_width_;
  RnnForm form_;
  RnnAttention attention_;
  bool feeding_;
  LocalKind local_;
  std::int64_t local_window_;
  bool coverage_;
  AttentionalRnnWeights weights_;                       // of the time loop
  Linear project_memory_;                               // to the states' width, where the score needs it
  std::vector<Linear> first_;                           // from the summary to each layer's first state
  Linear from_state_, from_context_, from_input_;       // what the output layer sees; not in Luong's form
  std::shared_ptr<const PackedAttentionalRnn> packed_;  // for decoding
  std::shared_ptr<const std::vector<RecurrentStepper>> packed_layers_;  // the same without attention
};

}  // namespace fovea
