// The attention of a decoder's step: the queries of some rows, each over the memory of its sequence.
#pragma once

#include <cstdint>

#include "attention/rnn/decoder.hpp"

namespace fovea {
class WeightEditor;
}

namespace fovea::decoder {

/// The rows of one step.
struct AttentionRows {
  Int count = 0;
  Int step = 0;                            // the centre of local-m
  const std::int32_t* sequence = nullptr;  // [count]: whose memory each row reads
  const Int* kept = nullptr;               // [count]: its row in the arrays that are kept; null: nothing is
  float* scores = nullptr;                 // [count, S]: gets the scores, -inf where a key is not visible; or null
  float* queries = nullptr;                // [count, dim]: gets the projected queries; or null
  const WeightEditor* editor = nullptr;    // changes the weights; or null
};

/// Memory for as many rows as a chunk has.
struct AttentionScratch {
  AttentionScratch(const Decoder& d, const Source& source, Int rows);
  Tensor unit;       // [rows, h]
  Tensor projected;  // [rows, dim]
  Tensor exp;        // [dim]
  Tensor weights;    // [rows, S]
  Tensor center;     // [rows, center_dim]
  Tensor covered;    // [S]
};

/// From queries [count, h] to contexts, rows `context_stride` apart, and weights (in scratch). `coverage` [rows, S] is
/// read and added to.
void attend_rows(const Decoder& d, const Source& source, const AttentionRows& rows, const float* queries,
                 float* contexts, Int context_stride, float* coverage, AttentionScratch& scratch);

/// What the attention's backward leaves for the products that follow the time loop, as compact rows.
struct AttentionGradients {
  Tensor contexts;  // [rows, M]
  Tensor scores;    // [rows, S]
  Tensor queries;   // [rows, dim]: of the projected queries
  Tensor centers;   // [rows, center_dim]: before tanh
  Tensor gates;     // [rows, 1]: of the gate before the sigmoid
  GradTarget keys;  // [B, S, dim], additive only: added to in the loop
};

/// Sums over the rows of one chunk; null: not wanted.
struct AttentionSums {
  float* vector = nullptr;           // [dim]
  float* coverage_weight = nullptr;  // [dim]
  float* query_bias = nullptr;       // [dim]
  float* center_vector = nullptr;    // [center_dim]
};

/// From the contexts' gradients to those of the queries, written to dqueries [count, h]. `dweights` (compact rows
/// [rows, S], or empty) comes to the weights from outside; dcoverage [rows, S] from later steps: read and added to.
void attend_backward(const Decoder& d, const AttentionRows& rows, const float* dcontexts, Int context_stride,
                     const Tensor& dweights, float* dcoverage, float* dqueries, const AttentionGradients& gradients,
                     const AttentionSums& sums, AttentionScratch& scratch);

}  // namespace fovea::decoder
