// The parts of attentional_rnn(): shapes, inputs and what the forward pass keeps for the backward.
//
// "Rows" are the target steps without padding, in the order of Sequences: row(b, t). What is kept of a step is in
// arrays of such rows; the step itself works on arrays whose row j is the chunk's j-th running sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/score_form.hpp"
#include "autograd/recurrent/sequences.hpp"
#include "autograd/recurrent/step_matrix.hpp"
#include "base/arena.hpp"
#include "fovea/attention/attentional_rnn.hpp"

namespace fovea::decoder {

using Int = std::int64_t;
template <class T>
using Vector = std::vector<T, ArenaAllocator<T>>;

/// What every score comes down to, once queries and keys are projected.
enum class Kind { additive, dot, location };

struct Layer {
  DecoderLayer weights;
  Tensor bias, state_bias;
  StepMatrix state, state_back;  // U and U'
  StepMatrix below, below_back;  // of layers above the first: W and W'; conditional: of the context
  // Kept:
  Tensor gates;    // [rows, 4h]
  Tensor cells;    // [rows, h], LSTM
  Tensor states;   // [rows, h]
  Tensor dropped;  // [rows, h]: what the layer above was given; states itself without dropout
  Var first, first_cell;
  Tensor first_value, first_cell_value;  // [B, h]; empty: zeros
};

/// What a decoder reads: the memory of each sequence, and its keys.
struct Source {
  [[nodiscard]] Int length(Int b) const { return lengths[static_cast<std::size_t>(b)]; }
  [[nodiscard]] const float* memory_row(Int b, Int j) const { return memory.data() + (b * steps + j) * memory.dim(2); }
  [[nodiscard]] Int key_at(Int b, Int j) const { return (b * steps + j) * keys.dim(2); }

  Int batch = 0, steps = 0;   // B, S
  Vector<Int> lengths;        // [B]
  Tensor memory;              // [B, S, M]
  Tensor keys;                // [B, S, dim], projected; empty for location
  Tensor keys_exp;            // [B, S, dim]: exp(2 keys), for kernels::additive_exp; empty: not used
  Vector<std::uint8_t> fits;  // [B]: whether that sequence's keys are small enough for it
};

/// One call. Counted: the tape's function holds it.
struct Decoder final : detail::Counted {
  Decoder(Sequences sequences) : targets(std::move(sequences)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool luong() const { return form == DecoderForm::luong; }
  [[nodiscard]] bool conditional() const { return form == DecoderForm::conditional; }
  /// Of the layers' states, those that go from step to step: one of each layer, or one that both cells change in turn.
  [[nodiscard]] std::size_t states() const { return conditional() ? 1 : layers.size(); }
  [[nodiscard]] std::size_t state_of(std::size_t layer) const { return conditional() ? 0 : layer; }
  [[nodiscard]] Layer& top() { return layers.back(); }
  [[nodiscard]] const Layer& top() const { return layers.back(); }

  Cell cell = Cell::gru;
  DecoderForm form = DecoderForm::bahdanau;
  bool keep = false;               // a backward pass may follow
  Storage storage = Storage::f32;  // of the time loop's matrices
  Int batch = 0, steps = 0;
  Int embedding = 0, memory_width = 0, units = 0, width = 0;  // E, M, h, gates h
  Int feed = 0, result = 0;                                   // F, G
  Int dim = 0, center_dim = 0;
  float dropout = 0;
  std::uint64_t dropout_seed = 0;

  attention::ScoreForm score;
  Kind kind = Kind::dot;
  float scale = 1;
  float unit_epsilon = 0;  // above 0: queries are made unit vectors first, as cosine wants them
  bool local = false, gaussian = false;
  Reading reading = Reading::soft;
  std::uint64_t reading_seed = 0;
  Int half_width = 0;

  Sequences targets;
  Source source;
  Vector<Layer> layers;

  // Inputs; keys are already projected. query_weights, query_bias: q = h op(W) + b; without them q = h.
  Var x, memory, keys, query_weights, query_bias, vector, coverage_weight;
  Var attentional, attentional_bias, center, center_vector, gate, gate_bias;
  kernels::Trans query_trans = kernels::Trans::no;
  Tensor query_view;  // the part of query_weights that is used: all, or the first h columns
  Tensor key_view;    // k = m W', W [dim, M]; empty: keys are made otherwise

  // Their values, and the matrices of the time loop with their transposes.
  Tensor input;  // x [rows, E]
  Tensor query_bias_value, vector_value, coverage_weight_value;
  Tensor attentional_bias_value, center_vector_value, gate_value;
  float gate_bias_value = 0;
  StepMatrix query, query_back, feeding, feeding_back, attend, attend_back, centering, centering_back;

  // Kept of attention:
  Tensor queries;      // [rows, dim], projected
  Tensor query_norms;  // [rows], with unit_epsilon
  Tensor weights;      // [rows, S]
  Tensor read;         // [rows, S]: what the memory was multiplied with; the weights, or 1 for one row
  Tensor gates;        // [rows]: of the context, where there is a gate
  Tensor coverage;     // [rows, S], before the step
  Tensor centers;      // [rows]
  Tensor center_tanh;  // [rows, center_dim]
  Tensor contexts;     // [rows, M]; Luong: columns of `joined`
  // Kept of Luong's form:
  Tensor joined;   // [rows, M + h]: context and state
  Tensor results;  // [rows, G]: g
  Tensor fed;      // [rows, G]: g of the step before
};

/// The parts of a call that do not depend on its data; d.embedding and d.memory_width are set before.
void set_weights(Decoder& d, const AttentionalRnnWeights& weights, const AttentionalRnnOptions& how);
void set_score(Decoder& d, const Score& score);
void check_first(const Decoder& d, Int batch, std::span<const Var> first, std::span<const Var> first_cell);

/// The memory's keys as the score wants them; nothing for location.
[[nodiscard]] Var keys_of(const Decoder& d, const Var& memory);
void set_source(const Decoder& d, const Var& memory, const Var& keys, std::span<const Int> lengths, Source& source);

/// All of it; gathers the inputs of the tape in `inputs`.
[[nodiscard]] detail::Ref<Decoder> prepare(const Var& x, const Var& memory, const AttentionalRnnWeights& weights,
                                           const AttentionalRnnOptions& how, std::span<const Var> first,
                                           std::span<const Var> first_cell, Vector<Var>& inputs);

/// The time loop, and what comes before it; fills all that is kept.
void forward(Decoder& d);

/// The gradients of the outputs, as compact rows; empty: none.
struct OutputGradients {
  Tensor states, contexts, attentional, weights;
};

/// The time loop backwards, then the gradients of all inputs.
void backward(Decoder& d, const OutputGradients& outputs);

}  // namespace fovea::decoder
