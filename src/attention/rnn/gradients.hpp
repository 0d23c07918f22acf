// What a decoder's backward loop leaves for the products that follow it.
#pragma once

#include "attention/rnn/attention_step.hpp"
#include "attention/rnn/decoder.hpp"

namespace fovea::decoder {

/// All as compact rows unless said otherwise. The layers' gates are overwritten by the gradients of the gates' sums.
struct Gradients {
  Gradients(const Decoder& d, const OutputGradients& outputs);

  OutputGradients outputs;
  AttentionGradients attention;
  Vector<Tensor> before;             // per layer [rows, h]: the state before each step
  Vector<Tensor> first, first_cell;  // per layer [B, h]; empty: not wanted
  Tensor results;                    // [rows, G]: of Luong's sums before tanh
  // [chunks, ..]: sums over the rows of a chunk, to be added up in order
  Vector<Tensor> bias;  // per layer [chunks, 4h]
  Tensor attentional_bias, vector, coverage_weight, query_bias, center_vector;
};

/// The time loop of one chunk.
void backward_chunk(const Decoder& d, Int c, const Gradients& g);

/// Each input's gradient, as products over all rows.
void input_gradients(const Decoder& d, const Gradients& g);

}  // namespace fovea::decoder
