// The time loop: each chunk of sequences goes through all its steps on one thread.
#include <algorithm>

#include "attention/rnn/decoder.hpp"
#include "attention/rnn/step.hpp"
#include "autograd/recurrent/rows.hpp"
#include "fovea/threads.hpp"

namespace fovea::decoder {
namespace {

void forward_chunk(const Decoder& d, std::span<const std::int32_t> chunk) {
  const auto count = static_cast<Int>(chunk.size());
  Carried carried(d, d.source, count);
  StepScratch scratch(d, d.source, count);
  Vector<Int> kept(chunk.size());
  for (std::size_t l = 0; l < d.layers.size(); ++l) {
    const Layer& layer = d.layers[l];
    if (layer.first_value) carried.zero_states = false;
    for (Int j = 0; j < count; ++j) {
      const Int b = chunk[static_cast<std::size_t>(j)];
      if (layer.first_value) copy_row(row_of(layer.first_value, b), row_of(carried.states[l], j), d.units);
      if (layer.first_cell_value) copy_row(row_of(layer.first_cell_value, b), row_of(carried.cells[l], j), d.units);
    }
  }
  Int active = count;
  for (Int step = 0; (active = d.targets.running(chunk, active, step)) > 0; ++step) {
    for (Int j = 0; j < active; ++j) {
      kept[static_cast<std::size_t>(j)] = d.targets.row(chunk[static_cast<std::size_t>(j)], step);
    }
    const AttentionRows rows{.count = active, .step = step, .sequence = chunk.data(), .kept = kept.data()};
    step_forward(d, d.source, rows, carried, scratch, {});
  }
}

}  // namespace

void forward(Decoder& d) {
  const Int rows = d.targets.rows();
  const auto array = [&](bool wanted, Int width) { return wanted ? Tensor::empty({rows, width}) : Tensor(); };
  for (Layer& layer : d.layers) {
    const bool top = &layer == &d.top();
    layer.gates = array(true, 4 * d.units);
    layer.cells = array(d.cell == Cell::lstm && d.keep, d.units);
    layer.states = array(d.keep || top, d.units);
    layer.dropped = d.dropout > 0 && !top ? array(d.keep, d.units) : layer.states;
  }
  d.queries = array(d.keep, d.dim);
  d.query_norms = array(d.keep && d.unit_epsilon > 0, 1);
  d.weights = array(true, d.source.steps);
  d.read = d.reading == Reading::soft ? d.weights : array(true, d.source.steps);
  d.gates = array(d.keep && d.gate, 1);
  d.coverage = array(d.keep && d.coverage_weight, d.source.steps);
  d.centers = array(d.keep && d.local, 1);
  d.center_tanh = array(d.keep && d.centering, d.center_dim);
  d.contexts = array(!d.luong(), d.memory_width);
  d.joined = array(d.keep && d.luong(), d.memory_width + d.units);
  d.results = array(d.luong(), d.result);
  d.fed = array(d.keep && d.luong() && d.feed > 0, d.result);

  // What does not wait for the recurrence: the product of all inputs with their weights.
  const Tensor w = d.layers[0].weights.input.value().contiguous();
  kernels::parallel_gemm(kernels::Trans::no, kernels::Trans::no, rows, d.width, d.embedding, d.input.data(),
                         d.embedding, w.data(), d.width, 0, d.layers[0].gates.data(), 4 * d.units);
  parallel_for(d.targets.chunks(), 1, [&](Int begin, Int end) {
    for (Int c = begin; c < end; ++c) forward_chunk(d, d.targets.chunk(c));
  });
}

}  // namespace fovea::decoder
