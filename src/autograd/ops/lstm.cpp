// an LSTM over whole sequences
//   forward   i, f, o = s(x W + b + h U),  g = tanh(x W + b + h U),  c' = f c + i g,  h' = o tanh(c')
//   backward  from the last step to the first, with D = dL/dh' and E = dL/dc' + D o (1 - tanh(c')^2):
//             D_i = E g i (1 - i),  D_f = E c f (1 - f),  D_g = E i (1 - g^2),  D_o = D tanh(c') o (1 - o)
//             dc = E f,  dh = [D_i D_f D_g D_o] U'
//             and over all steps at once: dx = D W',  dW = x' D,  dU = h' D,  db = column sums of D
// The gates and cells are kept; tanh(c') is computed again.
#include "autograd/recurrent/op.hpp"
#include "fovea/error.hpp"

namespace fovea {

Recurrent lstm(const Var& x, const LstmWeights& w, const RecurrentOptions& how, const Var& first,
               const Var& first_cell) {
  const CellWeights weights[] = {{w.input, w.state, w.bias, {}, how.reverse, w.packed_input, w.packed_state}};
  return recurrent("lstm", Cell::lstm, x, weights, how, first, first_cell);
}

Recurrent bidirectional_lstm(const Var& x, const LstmWeights& f, const LstmWeights& b, const RecurrentOptions& how,
                             const Var& first, const Var& first_cell) {
  if (how.reverse) throw UsageError("bidirectional_lstm: reverse is set, but both directions run anyway");
  const CellWeights weights[] = {{f.input, f.state, f.bias, {}, false, f.packed_input, f.packed_state},
                                 {b.input, b.state, b.bias, {}, true, b.packed_input, b.packed_state}};
  return recurrent("bidirectional_lstm", Cell::lstm, x, weights, how, first, first_cell);
}

}  // namespace fovea
