#include "autograd/recurrent/pass.hpp"

#include "autograd/recurrent/rows.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rnn.hpp"

namespace fovea {
namespace {

/// The position that a sequence is at in its `step`-th step.
std::int64_t position(const Sequences& sequences, const RnnDirection& d, std::int64_t b, std::int64_t step) {
  return d.reverse ? sequences.length(b) - 1 - step : step;
}

void forward_chunk(Cell cell, const Sequences& sequences, const RnnDirection& d, std::span<const std::int32_t> chunk) {
  const auto& rnn = *kernels::active().rnn;
  const std::int64_t h = d.state.k();
  const std::int64_t width = gate_count(cell) * h;
  const auto count = static_cast<std::int64_t>(chunk.size());
  const Tensor state = Tensor::zeros({count, h});
  const Tensor memory = cell == Cell::lstm ? Tensor::zeros({count, h}) : Tensor();
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t b = chunk[static_cast<std::size_t>(j)];
    if (d.first) copy_row(row_of(d.first, b), row_of(state, j), h);
    if (d.first_cell) copy_row(row_of(d.first_cell, b), row_of(memory, j), h);
  }
  const Tensor products = Tensor::zeros({count, width});
  std::int64_t active = count;
  for (std::int64_t step = 0; (active = sequences.running(chunk, active, step)) > 0; ++step) {
    if (step > 0 || d.first) {
      d.state.multiply(active, state.data(), h, 0, products.data(), width);
    }
    for (std::int64_t j = 0; j < active; ++j) {
      const std::int64_t b = chunk[static_cast<std::size_t>(j)];
      const std::int64_t t = position(sequences, d, b, step);
      const std::int64_t row = sequences.row(b, t);
      float* out = row_of(d.states, sequences.user_row(b, t));
      if (cell == Cell::gru) {
        rnn.gru_forward(h, {row_of(d.gates, row), row_of(d.gates, row), row_of(d.constant, b), row_of(products, j),
                            d.bias.data(), d.state_bias.data(), row_of(state, j), out});
      } else {
        rnn.lstm_forward(h, {row_of(d.gates, row), row_of(d.gates, row), row_of(d.constant, b), row_of(products, j),
                             d.bias.data(), row_of(memory, j), row_of(d.cells, row), row_of(state, j), out});
      }
    }
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t b = chunk[static_cast<std::size_t>(j)];
    copy_row(row_of(state, j), row_of(d.last, b), h);
    if (memory) copy_row(row_of(memory, j), row_of(d.last_cell, b), h);
    for (std::int64_t t = sequences.length(b); t < sequences.steps(); ++t) {
      zero_row(row_of(d.states, sequences.user_row(b, t)), h);
    }
  }
}

void backward_chunk(Cell cell, const Sequences& sequences, const RnnDirection& d, const DirectionGradients& g,
                    std::span<const std::int32_t> chunk, float* dbias) {
  const auto& rnn = *kernels::active().rnn;
  const std::int64_t h = g.state.n();
  const std::int64_t width = gate_count(cell) * h;
  const auto count = static_cast<std::int64_t>(chunk.size());
  zero_row(dbias, 4 * h);
  const Tensor carry = Tensor::zeros({count, h});
  const Tensor carry_cell = cell == Cell::lstm ? Tensor::zeros({count, h}) : Tensor();
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t b = chunk[static_cast<std::size_t>(j)];
    if (g.last) copy_row(row_of(g.last, b), row_of(carry, j), h);
    if (g.last_cell) copy_row(row_of(g.last_cell, b), row_of(carry_cell, j), h);
  }
  const Tensor products = Tensor::empty({count, width});
  const std::int64_t steps = count == 0 ? 0 : sequences.length(chunk[0]);
  for (std::int64_t step = steps - 1; step >= 0; --step) {
    const std::int64_t active = sequences.running(chunk, count, step);
    for (std::int64_t j = 0; j < active; ++j) {
      const std::int64_t b = chunk[static_cast<std::size_t>(j)];
      const std::int64_t t = position(sequences, d, b, step);
      const std::int64_t t_before = step == 0 ? 0 : position(sequences, d, b, step - 1);
      const std::int64_t row = sequences.row(b, t);
      const float* before = step == 0 ? row_of(d.first, b) : row_of(d.states, sequences.user_row(b, t_before));
      keep_row(before, row_of(g.before, row), h);
      const float* dout = row_of(g.states, sequences.user_row(b, t));
      if (cell == Cell::gru) {
        rnn.gru_backward(h,
                         {row_of(d.gates, row), before, dout, row_of(carry, j), row_of(products, j), nullptr, dbias});
      } else {
        const float* cell_before = step == 0 ? row_of(d.first_cell, b) : row_of(d.cells, sequences.row(b, t_before));
        rnn.lstm_backward(h, {row_of(d.gates, row), row_of(d.cells, row), cell_before, dout, row_of(carry, j),
                              row_of(carry_cell, j), row_of(products, j), dbias});
      }
    }
    if (step > 0 || g.first) {
      // A GRU's row has left z D in the carry; an LSTM's carry comes from the product alone.
      g.state.multiply(active, products.data(), width, cell == Cell::gru ? 1.0F : 0.0F, carry.data(), h);
    }
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t b = chunk[static_cast<std::size_t>(j)];
    if (g.constant) {
      float* sum = row_of(g.constant, b);
      zero_row(sum, width);
      for (std::int64_t t = 0; t < sequences.length(b); ++t) add_row(row_of(d.gates, sequences.row(b, t)), sum, width);
    }
    if (g.first) copy_row(row_of(carry, j), row_of(g.first, b), h);
    if (g.first_cell) copy_row(row_of(carry_cell, j), row_of(g.first_cell, b), h);
  }
}

}  // namespace

void run_forward(Cell cell, const Sequences& sequences, std::span<const RnnDirection> directions) {
  const std::int64_t chunks = sequences.chunks();
  parallel_for(static_cast<std::int64_t>(directions.size()) * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      forward_chunk(cell, sequences, directions[static_cast<std::size_t>(i / chunks)], sequences.chunk(i % chunks));
    }
  });
}

void run_backward(Cell cell, const Sequences& sequences, std::span<const RnnDirection> directions,
                  std::span<const DirectionGradients> gradients) {
  const std::int64_t chunks = sequences.chunks();
  parallel_for(static_cast<std::int64_t>(directions.size()) * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto which = static_cast<std::size_t>(i / chunks);
      const std::int64_t c = i % chunks;
      backward_chunk(cell, sequences, directions[which], gradients[which], sequences.chunk(c),
                     row_of(gradients[which].bias, c));
    }
  });
}

}  // namespace fovea
