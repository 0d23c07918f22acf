// a GRU over whole sequences
//   forward   r = s(x W_r + b_r + h U_r),  z = s(x W_z + b_z + h U_z)
//             m = h U_n + c,  n = tanh(x W_n + b_n + r m),  h' = n + z (h - n)
//   backward  from the last step to the first, with D = dL/dh' from the output and from the step after:
//             D_n = D (1 - z)(1 - n^2),  D_r = D_n m r (1 - r),  D_z = D (h - n) z (1 - z),  D_m = D_n r
//             dh = D z + [D_r D_z D_m] U'
//             and over all steps at once: dx = [D_r D_z D_n] W',  dW = x' [D_r D_z D_n],  dU = h' [D_r D_z D_m],
//             db, dc = column sums
// x W is one product for all steps; inside the time loop only h U remains, and each thread carries its own sequences
// through all steps without waiting for the others.
#include "autograd/recurrent/op.hpp"
#include "fovea/error.hpp"

namespace fovea {

Recurrent gru(const Var& x, const GruWeights& w, const RecurrentOptions& how, const Var& first) {
  const CellWeights weights[] = {{w.input, w.state, w.bias, w.state_bias, how.reverse, w.packed_input, w.packed_state}};
  return recurrent("gru", Cell::gru, x, weights, how, first, {});
}

Recurrent bidirectional_gru(const Var& x, const GruWeights& f, const GruWeights& b, const RecurrentOptions& how,
                            const Var& first) {
  if (how.reverse) throw UsageError("bidirectional_gru: reverse is set, but both directions run anyway");
  const CellWeights weights[] = {{f.input, f.state, f.bias, f.state_bias, false, f.packed_input, f.packed_state},
                                 {b.input, b.state, b.bias, b.state_bias, true, b.packed_input, b.packed_state}};
  return recurrent("bidirectional_gru", Cell::gru, x, weights, how, first, {});
}

}  // namespace fovea
