// The time loop of GRU and LSTM over a batch: what gru(), lstm() and their two-directional forms share.
#pragma once

#include <span>

#include "autograd/recurrent/sequences.hpp"
#include "autograd/recurrent/step_matrix.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/var.hpp"

namespace fovea {

/// How many gates the weights hold side by side. Both cells keep 4h values per row: a GRU's fourth is U_n h + c.
[[nodiscard]] constexpr std::int64_t gate_count(Cell cell) {
  return cell == Cell::gru ? 3 : 4;
}

/// One direction's run over a batch. Arrays of the user may be halves of wider ones, with rows at a distance of
/// stride(0).
struct RnnDirection {
  bool reverse = false;
  StepMatrix state;          // U [h, gates h]
  Tensor bias, state_bias;   // [gates h]; [h], GRU only
  Tensor constant;           // [B, gates h], added to x W at every step of a sequence; empty: nothing
  Tensor gates;              // [rows, 4h] compact: in x W; out what the backward needs
  Tensor cells;              // [rows, h] compact, LSTM only: every cell, for the backward; empty: not wanted
  Tensor first, first_cell;  // [B, h]; empty: zeros
  Tensor states;             // [B T, h], out
  Tensor last, last_cell;    // [B, h], out
};

/// The gradients that come to a direction's outputs, and those its loop finds. Empty ones: none, or not wanted.
struct DirectionGradients {
  StepMatrix state;                // in: U'
  Tensor states, last, last_cell;  // in, shaped as the outputs
  Tensor before;                   // out, [rows, h] compact: the state before each step, for dU
  Tensor bias;                     // out, [chunks, 4h]: sums of the gates' gradients over each chunk
  Tensor constant;                 // out, [B, gates h]
  Tensor first, first_cell;        // out, [B, h]
};

/// Every direction and chunk is carried through all its steps by one thread.
void run_forward(Cell cell, const Sequences& sequences, std::span<const RnnDirection> directions);

/// Overwrites `gates` by the gradients of the gates' sums (a GRU's third and fourth: of x_n + b_n and of U_n h + c).
void run_backward(Cell cell, const Sequences& sequences, std::span<const RnnDirection> directions,
                  std::span<const DirectionGradients> gradients);

}  // namespace fovea
