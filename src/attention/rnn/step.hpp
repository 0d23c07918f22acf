// One step of a decoder for some rows: training's time loop and decoding share it.
#pragma once

#include "attention/rnn/decoder.hpp"
#include "attention/rnn/look.hpp"

namespace fovea::decoder {

/// What goes from step to step, and the memory a step works in; row j is the j-th sequence of a chunk, or hypothesis.
struct StepState {
  StepState(const Decoder& d, Int rows);

  Vector<Tensor> states, cells;  // per layer [rows, h]
  Tensor fed;                    // [rows, G]: g of this step, fed to the next; Luong only
  Tensor coverage;               // [rows, S]
  bool blank = true;             // no step was taken yet
  bool zero = true;              // ... and all first states are zeros

  Tensor gates;                  // [rows, 4h], where nothing is kept
  Tensor products, more, input;  // [rows, gates h]
  Tensor context;                // [rows, M]; Luong: [rows, M + h], the state beside the context
  Tensor below;                  // [rows, h]: a layer's states after dropout
  LookScratch look;
};

/// Takes one step. What is kept goes to the decoder's arrays where rows.kept says so; the first layer's gates hold x W
/// before: row rows.kept[j] of its array, or row j of s.gates.
void step_forward(const Decoder& d, const LookRows& rows, StepState& s);

}  // namespace fovea::decoder
