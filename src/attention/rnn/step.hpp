// One step of a decoder for some rows: training's time loop and decoding share it.
#pragma once

#include "attention/rnn/attention_step.hpp"
#include "attention/rnn/decoder.hpp"

namespace fovea::decoder {

/// What goes from step to step; row j is the j-th sequence of a chunk, or hypothesis.
struct Carried {
  Carried() = default;
  Carried(const Decoder& d, const Source& source, Int rows);  // zeros

  [[nodiscard]] Carried slice(Int begin, Int end) const;  // a view of some rows

  Vector<Tensor> states, cells;  // per Decoder::states() [rows, h]; cells of LSTMs
  Tensor fed;                    // [rows, G]: g of the last step; Luong only
  Tensor coverage;               // [rows, S]
  bool fed_nothing = true;       // before the first step
  bool zero_states = true;       // ... and all first states are zeros
};

/// Memory that a step works in.
struct StepScratch {
  StepScratch(const Decoder& d, const Source& source, Int rows);

  Tensor products, more, input;  // [rows, gates h]
  Tensor context;                // [rows, M]; Luong: [rows, M + h], the context, then the state
  Tensor below;                  // [rows, h]: a layer's states after dropout
  AttentionScratch attention;
};

/// Takes one step. The first layer's gates hold x W before, and all layers' are written: those of row j at
/// rows.kept[j] of the layer's array, or, where nothing is kept, at row j of `gates` [rows, 4h].
void step_forward(const Decoder& d, const Source& source, const AttentionRows& rows, Carried& carried,
                  StepScratch& scratch, const Tensor& gates);

}  // namespace fovea::decoder
