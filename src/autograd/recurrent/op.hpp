// A recurrent network as an op on the tape, for any cell and one or two directions.
#pragma once

#include <span>

#include "autograd/recurrent/pass.hpp"

namespace fovea {

/// One direction's weights; `state_bias` for a GRU only.
struct CellWeights {
  Var input, state, bias, state_bias;
  bool reverse = false;
  std::shared_ptr<const PackedWeight> packed_input{}, packed_state{};  // for inference; may be empty
};

/// `op` names the caller in errors. `first_cell` and last_cell for an LSTM only.
[[nodiscard]] Recurrent recurrent(const char* op, Cell cell, const Var& x, std::span<const CellWeights> weights,
                                  const RecurrentOptions& how, const Var& first, const Var& first_cell);

}  // namespace fovea
