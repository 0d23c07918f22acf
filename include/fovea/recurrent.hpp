// Recurrent networks over whole sequences: one call forward, one call backward.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/packed_weight.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// The two recurrent cells.
enum class Cell { gru, lstm };

/// The weights of a GRU of h units. PyTorch's formulas and its order of gates: r, z, n.
struct GruWeights {
  Var input;       // [in, 3h]
  Var state;       // [h, 3h]
  Var bias;        // [3h]
  Var state_bias;  // [h]; inside the reset: n = tanh(W x + bias + r (U h + state_bias))
  std::shared_ptr<const PackedWeight> packed_input{}, packed_state{};  // used when nothing is recorded; may be empty
};

/// The weights of an LSTM of h units. PyTorch's order of gates: i, f, g, o.
struct LstmWeights {
  Var input;                                                           // [in, 4h]
  Var state;                                                           // [h, 4h]
  Var bias;                                                            // [4h]; the sum of PyTorch's two
  std::shared_ptr<const PackedWeight> packed_input{}, packed_state{};  // used when nothing is recorded; may be empty
};

/// How a recurrent network runs over sequences.
struct RecurrentOptions {
  std::span<const std::int64_t> lengths = {};  // of each sequence, 0 to T; empty: all T. Only read during the call
  Var constant = {};        // [B, gates h]: added to x W at every step of a sequence, as a fixed context is
  bool reverse = false;     // from each sequence's last step to its first; padding is skipped
  bool time_major = false;  // input and states are [T, B, ..] instead of [B, T, ..]
};

/// What a recurrent network computed.
struct Recurrent {
  Var states;     // [B, T, h]; zeros where there is padding
  Var last;       // [B, h]: the state after each sequence's last step; the first state when its length is 0
  Var last_cell;  // [B, h], LSTM only
};

/// A GRU over sequences (Cho et al. 2014): `x` [B, T, in], `first` [B, h] (zeros when left out).
///
///     const Recurrent run = gru(x, weights, {.lengths = lengths});
///
/// A sequence's result does not depend on the other sequences of the batch, to the last bit.
[[nodiscard]] Recurrent gru(const Var& x, const GruWeights& weights, const RecurrentOptions& how = {},
                            const Var& first = {});

/// An LSTM over sequences (Hochreiter and Schmidhuber 1997); as gru().
[[nodiscard]] Recurrent lstm(const Var& x, const LstmWeights& weights, const RecurrentOptions& how = {},
                             const Var& first = {}, const Var& first_cell = {});

/// The simpler simple recurrent unit without its two products (Kim et al. 2019, section 3.2), over sequences:
/// c_t = s(f_t) c_{t-1} + (1 - s(f_t)) x_t from c_0 = 0, y_t = max(c_t, 0); x and f [B, T, d], gives y [B, T, d].
[[nodiscard]] Var ssru(const Var& x, const Var& forget);

/// Both directions side by side: states [B, T, 2h], last and first [B, 2h], forward half first. The options'
/// `reverse` must be false, its constant is [B, 2 gates h].
[[nodiscard]] Recurrent bidirectional_gru(const Var& x, const GruWeights& forward, const GruWeights& backward,
                                          const RecurrentOptions& how = {}, const Var& first = {});
/// The same of LSTMs.
[[nodiscard]] Recurrent bidirectional_lstm(const Var& x, const LstmWeights& forward, const LstmWeights& backward,
                                           const RecurrentOptions& how = {}, const Var& first = {},
                                           const Var& first_cell = {});

/// A GRU's or LSTM's weights packed for single steps, as decoding takes them. No gradients; the same bytes as gru() and
/// lstm() give.
///
///     const RecurrentStepper cell(weights);
///     cell.step(x, state);  // [rows, in], [rows, h]
class RecurrentStepper {
 public:
  /// Of a GRU.
  explicit RecurrentStepper(const GruWeights& weights);
  /// Of an LSTM.
  explicit RecurrentStepper(const LstmWeights& weights);
  ~RecurrentStepper();
  RecurrentStepper(RecurrentStepper&&) noexcept;
  RecurrentStepper& operator=(RecurrentStepper&&) noexcept;

  /// Takes one step in place; `cell` [rows, h] for an LSTM only; `constant` [rows, gates h] is added to x W, if given.
  /// Throws ShapeError when the shapes do not fit, or an array is not contiguous.
  void step(const Tensor& x, const Tensor& state, const Tensor& cell = {}, const Tensor& constant = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
