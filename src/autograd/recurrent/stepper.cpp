#include <fmt/format.h>

#include <algorithm>

#include "autograd/recurrent/pass.hpp"
#include "autograd/recurrent/rows.hpp"
#include "autograd/recurrent/step_matrix.hpp"
#include "fovea/error.hpp"
#include "fovea/recurrent.hpp"
#include "fovea/threads.hpp"
#include "kernels/rnn.hpp"

namespace fovea {
namespace {

using kernels::Trans;

void expect(const char* name, const Tensor& t, const Shape& shape) {
  if (!t || !(t.shape() == shape) || !t.is_contiguous()) {
    throw ShapeError(fmt::format("RecurrentStepper: {} {}: expected {}, contiguous", name,
                                 t ? t.shape().text() : "is missing", shape.text()));
  }
}

}  // namespace

struct RecurrentStepper::Impl {
  template <class Weights>
  Impl(Cell kind, const Weights& w, const Var& c) : Impl(kind, w.input, w.state, w.bias, c) {
    input = w.packed_input ? StepMatrix(w.packed_input) : StepMatrix(Trans::no, w.input.value());
    state = w.packed_state ? StepMatrix(w.packed_state) : StepMatrix(Trans::no, w.state.value());
  }
  Impl(Cell kind, const Var& input_weights, const Var& state_weights, const Var& b, const Var& c)
      : cell(kind), h(state_weights ? state_weights.dim(0) : 0), width(gate_count(kind) * h) {
    expect("state weights", state_weights ? state_weights.value() : Tensor(), {h, width});
    const std::int64_t in = input_weights && input_weights.rank() == 2 ? input_weights.dim(0) : 0;
    expect("input weights", input_weights ? input_weights.value() : Tensor(), {in, width});
    expect("bias", b ? b.value() : Tensor(), {width});
    if (kind == Cell::gru) expect("state bias", c ? c.value() : Tensor(), {h});
    bias = b.value();
    if (c) state_bias = c.value();
  }

  Cell cell;
  std::int64_t h, width;
  StepMatrix input, state;
  Tensor bias, state_bias;
};

RecurrentStepper::RecurrentStepper(const GruWeights& w) : impl_(std::make_unique<Impl>(Cell::gru, w, w.state_bias)) {}
RecurrentStepper::RecurrentStepper(const LstmWeights& w) : impl_(std::make_unique<Impl>(Cell::lstm, w, Var())) {}
RecurrentStepper::~RecurrentStepper() = default;
RecurrentStepper::RecurrentStepper(RecurrentStepper&&) noexcept = default;
RecurrentStepper& RecurrentStepper::operator=(RecurrentStepper&&) noexcept = default;

void RecurrentStepper::step(const Tensor& x, const Tensor& state, const Tensor& cell, const Tensor& constant) const {
  const Impl& w = *impl_;
  const std::int64_t rows = x && x.rank() == 2 ? x.dim(0) : 0;
  expect("x", x, {rows, w.input.k()});
  expect("state", state, {rows, w.h});
  if (w.cell == Cell::lstm) expect("cell", cell, {rows, w.h});
  if (constant) expect("constant", constant, {rows, w.width});
  const auto& rnn = *kernels::active().rnn;
  // At least a register tile's rows to a thread.
  const std::int64_t part = std::max<std::int64_t>(16, (rows + threads() - 1) / threads());
  parallel_for(rows, part, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    const Tensor gates = Tensor::empty({count, 4 * w.h});
    const Tensor products = Tensor::empty({count, w.width});
    w.input.multiply(count, row_of(x, begin), w.input.k(), 0, gates.data(), 4 * w.h);
    w.state.multiply(count, row_of(state, begin), w.h, 0, products.data(), w.width);
    for (std::int64_t j = 0; j < count; ++j) {
      float* row = row_of(gates, j);
      float* h = row_of(state, begin + j);
      const float* more = row_of(constant, begin + j);
      if (w.cell == Cell::gru) {
        rnn.gru_forward(w.h, {row, row, more, row_of(products, j), w.bias.data(), w.state_bias.data(), h, nullptr});
      } else {
        rnn.lstm_forward(
            w.h, {row, row, more, row_of(products, j), w.bias.data(), row_of(cell, begin + j), nullptr, h, nullptr});
      }
    }
  });
}

}  // namespace fovea
