// Recurrent decoder: Bahdanau's, Luong's or the conditional form with any score, or the fixed context vector.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/arena.hpp"
#include "fovea/attention/attentional_rnn.hpp"
#include "fovea/attention/attentional_rnn_stepper.hpp"
#include "fovea/model/decoder.hpp"
#include "fovea/nn/linear.hpp"

namespace fovea {

/// Bahdanau et al. 2015: the previous state is the query, the context enters the cell, and the output layer sees state,
/// context and input. Luong et al. 2015: the current state is the query, and an attentional layer mixes state and
/// context, fed back or not. Conditional (Sennrich et al. 2017): a first cell reads the input, its state is the query,
/// the context enters a second cell, further layers may follow; the output layer is Bahdanau's. Without attention (Cho
/// et al. 2014): the encoder's summary enters the cell at every step. Without a memory (a language model): the cells
/// alone.
class RnnDecoder final : public Decoder {
 public:
  RnnDecoder(const RnnDecoderConfig& config, const DecoderSizes& sizes, Parameters& parameters,
             const std::string& name);
  [[nodiscard]] Decoded decode(const Memory* memory, const Sequence& target, Pass& pass,
                               const DecoderAttention& want) const override;
  [[nodiscard]] std::unique_ptr<DecoderState> start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                    const Interventions* interventions) const override;
  [[nodiscard]] std::int64_t width() const override {
    return config_.readout_dim > 0 ? config_.readout_dim : config_.dim;
  }

 private:
  friend class RnnState;
  friend class PlainRnnState;
  friend struct LayerStates;
  struct Start {
    Var memory;                                    // [batch, length, memory width], what is attended to
    Var summary;                                   // [batch, width of the encoder]
    std::vector<Var, ArenaAllocator<Var>> states;  // per layer [batch, width]
    std::vector<Var, ArenaAllocator<Var>> cells;   // the same of LSTMs; empty: zeros
    [[nodiscard]] Var first_cell(std::size_t layer) const { return cells.empty() ? Var() : cells[layer]; }
  };
  struct PackedLayers {
    std::vector<RecurrentStepper> steppers;
    std::unique_ptr<const PackedWeight> summary{};  // from the summary to the first layer's gates; only with a memory
  };
  [[nodiscard]] Start begin(const Memory* memory, std::int64_t rows) const;
  [[nodiscard]] bool luong() const { return config_.form == RnnForm::luong; }
  [[nodiscard]] bool conditional() const { return config_.form == RnnForm::conditional; }
  [[nodiscard]] bool attends() const { return config_.attention != RnnAttention::none; }
  /// The number of layers whose states are queries: in the conditional form the first alone.
  [[nodiscard]] std::size_t attending_states() const { return conditional() ? 1 : weights_.layers.size(); }
  /// The output of the layers above the conditional form's first, given its states [batch, length, dim].
  [[nodiscard]] Var above(const Var& states, const Start& start, std::span<const std::int64_t> lengths,
                          Pass& pass) const;
  [[nodiscard]] Recurrent run_layer(const DecoderLayer& layer, const Var& input, const Var& x,
                                    const RecurrentOptions& how, const Start& start, std::size_t number) const;
  [[nodiscard]] Var read_out(const Var& states, const Var& contexts, const Var& embedded) const;
  [[nodiscard]] Var activated(const Var& sum) const;
  [[nodiscard]] Decoded decode_plain(const Start& start, const Var& embedded, std::span<const std::int64_t> lengths,
                                     Pass& pass) const;

  /// The same as decode() a step at a time: for a trace, interventions, or the largest weights only.
  [[nodiscard]] Decoded decode_by_steps(const Start& start, const Memory& memory, const Var& embedded, Pass& pass,
                                        const DecoderAttention& want) const;

  [[nodiscard]] AttentionalRnnOptions options() const;
  /// The packed weights of the time loop: those of the model, or in training a packed copy of the current ones.
  [[nodiscard]] std::shared_ptr<const PackedAttentionalRnn> packed() const;
  [[nodiscard]] std::shared_ptr<const PackedLayers> packed_layers() const;
  [[nodiscard]] RecurrentStepper packed_layer(const DecoderLayer& layer, const Var& input) const;

  RnnDecoderConfig config_;
  std::string name_;
  DecoderSizes sizes_;
  std::int64_t attended_width_;                         // of the memory that attention reads
  AttentionalRnnWeights weights_;                       // of the time loop
  std::vector<DecoderLayer> above_;                     // conditional: layers above the first
  Linear project_memory_;                               // to the width of the states, if the score needs it
  std::vector<Linear> first_;                           // from the summary to each layer's first state
  Linear from_state_, from_context_, from_input_;       // inputs of the output layer; not in Luong's form
  std::shared_ptr<const PackedAttentionalRnn> packed_;  // for decoding
  std::shared_ptr<const PackedLayers> packed_layers_;   // of the layers that do not attend
};

}  // namespace fovea
