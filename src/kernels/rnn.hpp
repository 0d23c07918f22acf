// The gate arithmetic of GRU, LSTM and SSRU, one row (one sequence at one step) per call.
//
// The products with the weights are done outside, for many rows at once; a row here reads them, adds the biases,
// applies the gates, updates the state and leaves in place what the backward row needs. In the backward the gates'
// values are overwritten by the gradients of their sums, so one array [rows, 4h] serves both ways.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// h units: r = s(x_r + b_r + u_r), z = s(x_z + b_z + u_z), m = u_n + c, n = tanh(x_n + b_n + r m),
/// state = n + z (state - n).
struct GruForwardRow {
  float* gates;             // [4h]: out r, z, n, m
  const float* input;       // [3h]: x_r, x_z, x_n (products with the input); may be gates
  const float* more;        // [3h]: added to the input; null: nothing
  const float* products;    // [3h]: u_r, u_z, u_n (products with the state before)
  const float* bias;        // [3h]: b
  const float* state_bias;  // [h]: c
  float* state;             // [h]: the state before; out the state after
  float* out;               // [h]: the state after, once more; null: not wanted
};

/// With D = dL/d(state after) = carry + dout: D_n = D (1 - z) (1 - n^2), D_r = D_n m r (1 - r),
/// D_z = D (before - n) z (1 - z), D_m = D_n r; carry = D z, to which the caller adds [D_r D_z D_m] U'.
struct GruBackwardRow {
  float* gates;         // [4h]: in r, z, n, m; out D_r, D_z, D_n, D_m
  const float* before;  // [h]: the state before; null: zeros
  const float* dout;    // [h]: gradient of the output of this step; null: none
  float* carry;         // [h]: gradient of the state after, from later steps; out: see above
  float* products;      // [3h]: out D_r, D_z, D_m side by side, for the product with U'
  float* inputs;        // [3h]: out D_r, D_z, D_n side by side, for a product with W'; null: not wanted
  float* dbias;         // [4h]: the row's gates are added to it
};

/// i, f, o = s(x + b + u), g = tanh(x + b + u), cell = f cell + i g, state = o tanh(cell). Order i, f, g, o.
struct LstmForwardRow {
  float* gates;           // [4h]: out i, f, g, o
  const float* input;     // [4h]: products with the input; may be gates
  const float* more;      // [4h]: added to the input; null: nothing
  const float* products;  // [4h]: products with the state before
  const float* bias;      // [4h]
  float* cell;            // [h]: in before, out after
  float* cell_out;        // [h]: the cell after, kept for the backward; null: not wanted
  float* state;           // [h]: out the state after
  float* out;             // [h]: the same once more; null: not wanted
};

/// With D = carry + dout and E = carry_cell + D o (1 - tanh(cell)^2): D_i = E g i (1 - i), D_f = E cell_before f (1 -
/// f), D_g = E i (1 - g^2), D_o = D tanh(cell) o (1 - o), carry_cell = E f; the caller makes carry = [D_i D_f D_g D_o]
/// U'.
struct LstmBackwardRow {
  float* gates;              // [4h]: in i, f, g, o; out D_i, D_f, D_g, D_o
  const float* cell;         // [h]: after
  const float* cell_before;  // [h]; null: zeros
  const float* dout;         // [h]; null: none
  const float* carry;        // [h]
  float* carry_cell;         // [h]: in and out
  float* products;           // [4h]: the gates' gradients once more
  float* dbias;              // [4h]: added to
};

/// g = s(gate), cell = x + g (cell - x), out = max(cell, 0): g of what was, 1 - g of what comes.
struct SsruForwardRow {
  const float* x;  // [h]
  float* gate;     // [h]: in its sum; out g
  float* cell;     // [h]: in before, out after
  float* kept;     // [h]: the cell after, kept for the backward; null: not wanted
  float* out;      // [h]
};

/// With D = carry + dout where cell > 0: dgate = D (before - x) g (1 - g), dx = D (1 - g), carry = D g.
struct SsruBackwardRow {
  const float* x;       // [h]
  const float* gate;    // [h]: g
  const float* before;  // [h]: the cell before; null: zeros
  const float* cell;    // [h]: after
  const float* dout;    // [h]
  float* carry;         // [h]: in and out
  float* dx;            // [h]: out
  float* dgate;         // [h]: out, of the sum
};

struct RnnKernels {
  void (*gru_forward)(std::int64_t h, const GruForwardRow& row);
  void (*gru_backward)(std::int64_t h, const GruBackwardRow& row);
  void (*lstm_forward)(std::int64_t h, const LstmForwardRow& row);
  void (*lstm_backward)(std::int64_t h, const LstmBackwardRow& row);
  void (*ssru_forward)(std::int64_t h, const SsruForwardRow& row);
  void (*ssru_backward)(std::int64_t h, const SsruBackwardRow& row);
};

}  // namespace fovea::kernels
