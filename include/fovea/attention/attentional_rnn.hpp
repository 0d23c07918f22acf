// A recurrent decoder that attends to a memory at every step: the whole time loop is one op, forward and backward.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fovea/attention/mask.hpp"
#include "fovea/attention/scores.hpp"
#include "fovea/ops.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Where attention enters a decoder's step. h_t is the state of the top layer, x_t the input, c_t the context, a the
/// attention's result.
enum class DecoderForm {
  bahdanau,  // c_t = a(h_{t-1}), h_t = cell([x_t; c_t], h_{t-1})  (Bahdanau et al. 2015)
  luong,     // h_t = cell([x_t; g_{t-1}], h_{t-1}), c_t = a(h_t), g_t = tanh([c_t; h_t] A + b)  (Luong et al. 2015)
  // Two cells with the attention between them, so that the query knows the last word (Sennrich et al. 2017):
  conditional  // k_t = cell_1(x_t, h_{t-1}), c_t = a(k_t), h_t = cell_2(c_t, k_t)
};

/// The weights of one layer of cells of h units; gates as in GruWeights and LstmWeights.
struct DecoderLayer {
  // [in, gates h]; first layer: in = E + F (rows of x first, then of what is fed), others: h; conditional: E, then M
  Var input{};
  Var state{};       // [h, gates h]
  Var bias{};        // [gates h]
  Var state_bias{};  // [h], GRU only
};

/// A decoder's parameters. M is the width of the memory, h the number of units.
struct AttentionalRnnWeights {
  Cell cell = Cell::gru;               // of every layer
  std::vector<DecoderLayer> layers{};  // conditional: two, cell_1 and cell_2, with one first state
  // Any but Pairwise and Block; queries are [h], keys [M]. Additive with coverage_weight keeps a coverage: the sum of
  // all earlier weights of each key (See et al. 2017); its `coverage` stays empty.
  Score score = score::Dot{};
  Var attentional{};               // Luong: A [M + h, G], rows of the context first
  Var attentional_bias{};          // Luong: b [G]
  Var center{};                    // local-p: W [p, h] of the predicted centre; empty: local-m
  Var center_vector{};             // local-p: v [p]
  Storage storage = Storage::f32;  // of the matrices that a PackedAttentionalRnn multiplies with
  // Xu et al. 2015, section 4.2.1: the context is multiplied by sigmoid(query . gate + gate_bias); empty: it is not
  Var gate{};       // [h]
  Var gate_bias{};  // [1]
};

/// How a decoder reads the memory by its weights: soft takes the mean, hard the one row of the memory that has most
/// weight, sampled one row drawn by the weights as probabilities (Xu et al. 2015, section 4.1). No gradient comes from
/// a row that was chosen to the weights: that is what reinforce_loss() is for.
enum class Reading { soft, hard, sampled };

/// How a decoder runs.
struct AttentionalRnnOptions {
  DecoderForm form = DecoderForm::bahdanau;           // which state is the query, and where the context goes
  bool input_feeding = true;                          // Luong: g_{t-1} is fed (F = G); else nothing is (F = 0)
  std::span<const std::int64_t> lengths = {};         // of the targets, 0 to T; empty: all T
  std::span<const std::int64_t> memory_lengths = {};  // of the memory, 0 to S; empty: all S
  std::optional<Local> local = {};                    // its centers stay empty
  Dropout dropout{};                                  // of what a layer gives to the layer above
  bool want_weights = false;                          // give AttentionalRnn::weights
  Reading reading = Reading::soft;                    // the mean of the memory, or one row of it
  std::uint64_t reading_seed = 0;                     // of what is sampled
  // [B]: which row of the memory each target reads, so that several read one; empty: its own. The memory's lengths are
  // then of its rows too.
  std::span<const std::int32_t> memory_rows = {};
};

/// What a decoder computed; zeros where there is padding.
struct AttentionalRnn {
  Var states;       // [B, T, h] of the top layer; not of Luong
  Var contexts;     // [B, T, M]; not of Luong
  Var attentional;  // [B, T, G]: g; Luong only
  // [B, T, S]; a gradient may flow into them. 0 where no key is visible. Where one row is read: the probabilities.
  Var weights = Var::absent("weights were not requested: set AttentionalRnnOptions::want_weights");
  Tensor read{};  // [B, T, S], with weights and unless reading is soft: 1 for the row that was read, else 0
};

/// Runs a decoder over given inputs (teacher forcing): x [B, T, E], memory [B, S, M], the first state of each layer
/// [B, h] (none: zeros) and for LSTMs the first cell.
///
///     const AttentionalRnn run = attentional_rnn(embedded, memory, weights, {.memory_lengths = lengths}, {start});
///
/// Every sequence is carried through all steps by one thread; products that do not depend on the recurrence are made
/// for all steps at once. A sequence's result does not depend on the others. Throws ShapeError naming what does not
/// fit.
[[nodiscard]] AttentionalRnn attentional_rnn(const Var& x, const Var& memory, const AttentionalRnnWeights& weights,
                                             const AttentionalRnnOptions& how = {}, std::span<const Var> first = {},
                                             std::span<const Var> first_cell = {});

}  // namespace fovea
