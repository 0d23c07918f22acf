#include "autograd/recurrent/op.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "autograd/recurrent/products.hpp"
#include "fovea/error.hpp"
#include "kernels/gemm.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {
namespace {

using kernels::Trans;

constexpr std::size_t kMostDirections = 2;

// What the backward needs; moved into the tape.
struct Kept {
  Cell cell;
  Sequences sequences;
  std::size_t count;
  std::array<CellWeights, kMostDirections> weights;
  std::array<RnnDirection, kMostDirections> directions;
  Var x, constant, first, first_cell;
  Tensor input;  // compact [rows, in]
};

void expect(const char* op, const char* name, const Var& v, const Shape& shape) {
  if (!v || !(v.shape() == shape)) {
    throw ShapeError(
        fmt::format("{}: {} {} where {} is needed", op, name, v ? v.shape().text() : "is missing", shape.text()));
  }
}

/// The k-th of several adjacent parts of h columns.
Tensor half(const Tensor& t, std::size_t k, std::int64_t h) {
  if (!t) return t;
  const auto begin = static_cast<std::int64_t>(k) * h;
  return t.slice(-1, begin, begin + h);
}

// From the gates' gradients of every step to those of the weights, each one product over all rows.
void weight_gradients(const Kept& k, std::size_t which, const DirectionGradients& g) {
  const CellWeights& w = k.weights[which];
  const Tensor& gates = k.directions[which].gates;
  const std::int64_t h = w.state.dim(0);
  const std::int64_t width = gate_count(k.cell) * h;
  if (w.input.requires_grad()) {
    const GradTarget dw = w.input.grad_target();
    multiply(Trans::yes, Trans::no, k.input, gates.slice(1, 0, width), dw.add, dw.tensor);
  }
  state_weight_gradient(k.cell, g.before, gates, w.state);
  add_rows(g.bias, 0, width, w.bias);
  if (k.cell == Cell::gru) add_rows(g.bias, width, width + h, w.state_bias);
}

// dx = sum over directions of D W'.
void input_gradient(const Kept& k) {
  if (!k.x.requires_grad()) return;
  const std::int64_t in = k.x.dim(-1);
  const GradTarget dx = k.x.grad_target();
  const bool dense = k.sequences.dense();
  const Tensor to = dense ? dx.tensor.reshape({-1, in}) : Tensor::empty({k.sequences.rows(), in});
  for (std::size_t d = 0; d < k.count; ++d) {
    const Tensor w = k.weights[d].input.value().contiguous();
    multiply(Trans::no, Trans::yes, k.directions[d].gates.slice(1, 0, w.dim(1)), w, d > 0 || (dense && dx.add), to);
  }
  if (!dense) k.sequences.expand(to, dx.tensor.reshape({-1, in}), dx.add);
}

void run(const Kept& k, std::span<const Tensor> outputs) {
  const std::int64_t h = k.weights[0].state.dim(0);
  const auto both = static_cast<std::int64_t>(k.count) * h;
  const bool lstm = k.cell == Cell::lstm;
  const Tensor dstates = outputs[0] ? outputs[0].contiguous().reshape({-1, both}) : Tensor();
  const Tensor dlast = outputs[1] ? outputs[1].contiguous() : Tensor();
  const Tensor dlast_cell = outputs[2] ? outputs[2].contiguous() : Tensor();
  const Tensor dfirst = k.first.requires_grad() ? Tensor::empty(k.first.shape()) : Tensor();
  const Tensor dfirst_cell = k.first_cell.requires_grad() ? Tensor::empty(k.first_cell.shape()) : Tensor();
  const std::int64_t width = gate_count(k.cell) * h;
  const Tensor dconstant = k.constant.requires_grad() ? Tensor::empty(k.constant.shape()) : Tensor();
  std::array<DirectionGradients, kMostDirections> gradients;
  for (std::size_t d = 0; d < k.count; ++d) {
    gradients[d] = {
        .state = StepMatrix(Trans::yes, k.weights[d].state.value().contiguous()),
        .states = half(dstates, d, h),
        .last = half(dlast, d, h),
        .last_cell = half(dlast_cell, d, h),
        .before = k.weights[d].state.requires_grad() ? Tensor::empty({k.sequences.rows(), h}) : Tensor(),
        .bias = Tensor::empty({k.sequences.chunks(), 4 * h}),
        .constant = half(dconstant, d, width),
        .first = half(dfirst, d, h),
        .first_cell = lstm ? half(dfirst_cell, d, h) : Tensor(),
    };
  }
  run_backward(k.cell, k.sequences, std::span(k.directions).first(k.count), std::span(gradients).first(k.count));
  for (std::size_t d = 0; d < k.count; ++d) weight_gradients(k, d, gradients[d]);
  input_gradient(k);
  if (dconstant) k.constant.accumulate(dconstant);
  if (dfirst) k.first.accumulate(dfirst);
  if (dfirst_cell) k.first_cell.accumulate(dfirst_cell);
}

}  // namespace

Recurrent recurrent(const char* op, Cell cell, const Var& x, std::span<const CellWeights> weights,
                    const RecurrentOptions& how, const Var& first, const Var& first_cell) {
  if (x.rank() != 3) throw ShapeError(fmt::format("{}: the input is {}, not [B,T,in]", op, x.shape().text()));
  const std::int64_t batch = x.dim(how.time_major ? 1 : 0);
  const std::int64_t steps = x.dim(how.time_major ? 0 : 1);
  const std::int64_t in = x.dim(2);
  const std::int64_t h = weights[0].state ? weights[0].state.dim(0) : 0;
  const std::int64_t width = gate_count(cell) * h;
  const std::int64_t both = static_cast<std::int64_t>(weights.size()) * h;
  for (const CellWeights& w : weights) {
    expect(op, "input weights", w.input, {in, width});
    expect(op, "state weights", w.state, {h, width});
    expect(op, "bias", w.bias, {width});
    if (cell == Cell::gru) expect(op, "state bias", w.state_bias, {h});
  }
  const std::int64_t wide = static_cast<std::int64_t>(weights.size()) * width;
  if (how.constant) expect(op, "constant", how.constant, {batch, wide});
  if (first) expect(op, "first state", first, {batch, both});
  if (first_cell) expect(op, "first cell", first_cell, {batch, both});

  std::array<Var, 4 + 4 * kMostDirections> inputs{x, how.constant, first, first_cell};
  std::size_t used = 4;
  for (const CellWeights& w : weights) {
    for (const Var& v : {w.input, w.state, w.bias, w.state_bias}) inputs[used++] = v;
  }
  const std::span<const Var> all(inputs.data(), used);
  const bool keep = detail::recording(all);

  Kept k{.cell = cell,
         .sequences = Sequences(op, batch, steps, how.lengths, how.time_major),
         .count = weights.size(),
         .weights = {},
         .directions = {},
         .x = x,
         .constant = how.constant,
         .first = first,
         .first_cell = first_cell,
         .input = {}};
  k.input = k.sequences.compact(x.value().contiguous().reshape({batch * steps, in}));
  const Tensor states = Tensor::empty({x.dim(0), x.dim(1), both});
  const Tensor last = Tensor::empty({batch, both});
  const Tensor last_cell = cell == Cell::lstm ? Tensor::empty({batch, both}) : Tensor();
  const Tensor constant_value = how.constant ? how.constant.value().contiguous() : Tensor();
  const Tensor first_value = first ? first.value().contiguous() : Tensor();
  const Tensor first_cell_value = first_cell ? first_cell.value().contiguous() : Tensor();
  for (std::size_t d = 0; d < weights.size(); ++d) {
    const CellWeights& w = k.weights[d] = weights[d];
    k.directions[d] = {
        .reverse = w.reverse,
        .state =
            !keep && w.packed_state ? StepMatrix(w.packed_state) : StepMatrix(Trans::no, w.state.value().contiguous()),
        .bias = w.bias.value().contiguous(),
        .state_bias = cell == Cell::gru ? w.state_bias.value().contiguous() : Tensor(),
        .constant = half(constant_value, d, width),
        .gates = Tensor::empty({k.sequences.rows(), 4 * h}),
        .cells = cell == Cell::lstm && keep ? Tensor::empty({k.sequences.rows(), h}) : Tensor(),
        .first = half(first_value, d, h),
        .first_cell = half(first_cell_value, d, h),
        .states = half(states.reshape({batch * steps, both}), d, h),
        .last = half(last, d, h),
        .last_cell = half(last_cell, d, h),
    };
    const Tensor gates = k.directions[d].gates;
    if (!keep && w.packed_input) {
      kernels::parallel_gemm_packed(k.sequences.rows(), k.input.data(), in, matrix_of(*w.packed_input), 0, gates.data(),
                                    gates.stride(0));
    } else {
      multiply(Trans::no, Trans::no, k.input, w.input.value().contiguous(), false, gates.slice(1, 0, width));
    }
  }
  run_forward(cell, k.sequences, std::span(k.directions).first(k.count));

  for (RnnDirection& d : k.directions) d.state = {};  // the backward uses the transposed

  Recurrent result;
  auto backward = [k = std::move(k)](std::span<const Tensor> outputs) { run(k, outputs); };
  if (cell == Cell::lstm) {
    record({{&result.states, states}, {&result.last, last}, {&result.last_cell, last_cell}}, all, std::move(backward));
  } else {
    record({{&result.states, states}, {&result.last, last}}, all, std::move(backward));
  }
  return result;
}

}  // namespace fovea
