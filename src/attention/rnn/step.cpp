#include "attention/rnn/step.hpp"

#include "attention/rnn/layer_dropout.hpp"
#include "autograd/recurrent/rows.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rnn.hpp"

namespace fovea::decoder {

Carried::Carried(const Decoder& d, const Source& source, Int rows)
    : fed(d.luong() ? Tensor::zeros({rows, d.result}) : Tensor()),
      coverage(d.coverage_weight ? Tensor::zeros({rows, source.steps}) : Tensor()) {
  for (std::size_t l = 0; l < d.states(); ++l) {
    states.push_back(Tensor::zeros({rows, d.units}));
    cells.push_back(d.cell == Cell::lstm ? Tensor::zeros({rows, d.units}) : Tensor());
  }
}

Carried Carried::slice(Int begin, Int end) const {
  const auto part = [&](const Tensor& t) { return t ? t.slice(0, begin, end) : Tensor(); };
  Carried some;
  for (const Tensor& t : states) some.states.push_back(part(t));
  for (const Tensor& t : cells) some.cells.push_back(part(t));
  some.fed = part(fed);
  some.coverage = part(coverage);
  some.fed_nothing = fed_nothing;
  some.zero_states = zero_states;
  return some;
}

StepScratch::StepScratch(const Decoder& d, const Source& source, Int rows)
    : products(Tensor::empty({rows, d.width})),
      more(d.feed > 0 ? Tensor::empty({rows, d.width}) : Tensor()),
      input(d.layers.size() > 1 ? Tensor::empty({rows, d.width}) : Tensor()),
      context(Tensor::empty({rows, d.memory_width + (d.luong() ? d.units : 0)})),
      below(d.dropout > 0 ? Tensor::empty({rows, d.units}) : Tensor()),
      attention(d, source, rows) {}

namespace {

// All rows of one layer: products with the states, then the gates.
void cells_forward(const Decoder& d, const AttentionRows& rows, Int l, const float* more, const Carried& carried,
                   const StepScratch& s, const Tensor& all_gates) {
  const auto& rnn = *kernels::active().rnn;
  const auto at = static_cast<std::size_t>(l);
  const Layer& layer = d.layers[at];
  const Tensor& state = carried.states[d.state_of(at)];
  if (!carried.zero_states) {
    layer.state.multiply(rows.count, state.data(), d.units, 0, s.products.data(), d.width);
  } else {
    zero_row(s.products.data(), rows.count * d.width);
  }
  for (Int j = 0; j < rows.count; ++j) {
    const Int kept = rows.kept == nullptr ? 0 : rows.kept[j];
    const auto keep = [&](const Tensor& array) { return rows.kept == nullptr ? nullptr : row_of(array, kept); };
    float* gates = rows.kept == nullptr ? row_of(all_gates, j) : row_of(layer.gates, kept);
    const float* input = l == 0 ? gates : row_of(s.input, j);
    const float* add = more == nullptr ? nullptr : more + j * d.width;
    if (d.cell == Cell::gru) {
      rnn.gru_forward(d.units, {gates, input, add, row_of(s.products, j), layer.bias.data(), layer.state_bias.data(),
                                row_of(state, j), keep(layer.states)});
    } else {
      rnn.lstm_forward(
          d.units, {gates, input, add, row_of(s.products, j), layer.bias.data(),
                    row_of(carried.cells[d.state_of(at)], j), keep(layer.cells), row_of(state, j), keep(layer.states)});
    }
  }
}

// What layer l gives to the one above: its states, after dropout while training.
const float* given_above(const Decoder& d, const AttentionRows& rows, Int l, const Carried& carried,
                         const StepScratch& s) {
  const auto at = static_cast<std::size_t>(l);
  if (!(d.dropout > 0)) return carried.states[at].data();
  for (Int j = 0; j < rows.count; ++j) {
    float* to = row_of(s.below, j);
    drop(d, l, rows.sequence[j], rows.step, row_of(carried.states[at], j), to, false);
    if (rows.kept != nullptr) keep_row(to, row_of(d.layers[at].dropped, rows.kept[j]), d.units);
  }
  return s.below.data();
}

// c = a(state), in the scratch's first columns.
void attend_from(const Decoder& d, const Source& source, const AttentionRows& rows, const Carried& carried,
                 StepScratch& s) {
  float* coverage = carried.coverage ? carried.coverage.data() : nullptr;
  attend_rows(d, source, rows, carried.states.back().data(), s.context.data(), s.context.dim(1), coverage, s.attention);
  if (d.luong()) return;
  for (Int j = 0; rows.kept != nullptr && j < rows.count; ++j) {
    keep_row(row_of(s.context, j), row_of(d.contexts, rows.kept[j]), d.memory_width);
  }
}

// k = cell_1(x, h), c = a(k), h = cell_2(c, k)
void conditional_forward(const Decoder& d, const Source& source, const AttentionRows& rows, Carried& carried,
                         StepScratch& s, const Tensor& gates) {
  cells_forward(d, rows, 0, nullptr, carried, s, gates);
  carried.zero_states = false;
  attend_from(d, source, rows, carried, s);
  d.layers[1].below.multiply(rows.count, s.context.data(), d.memory_width, 0, s.input.data(), d.width);
  cells_forward(d, rows, 1, nullptr, carried, s, gates);
}

// g = tanh([c; h] A + b)
void attentional_forward(const Decoder& d, const AttentionRows& rows, const Carried& carried, const StepScratch& s) {
  const auto& math = *kernels::active().math;
  const Int joined = d.memory_width + d.units;
  for (Int j = 0; j < rows.count; ++j) {
    copy_row(row_of(carried.states.back(), j), row_of(s.context, j) + d.memory_width, d.units);
    copy_row(d.attentional_bias_value.data(), row_of(carried.fed, j), d.result);
  }
  d.attend.multiply(rows.count, s.context.data(), joined, 1, carried.fed.data(), d.result);
  for (Int j = 0; j < rows.count; ++j) {
    float* g = row_of(carried.fed, j);
    math.tanh(g, g, static_cast<std::size_t>(d.result));
    if (rows.kept == nullptr) continue;
    keep_row(row_of(s.context, j), row_of(d.joined, rows.kept[j]), joined);
    keep_row(g, row_of(d.results, rows.kept[j]), d.result);
  }
}

}  // namespace

void step_forward(const Decoder& d, const Source& source, const AttentionRows& rows, Carried& carried, StepScratch& s,
                  const Tensor& gates) {
  if (d.conditional()) return conditional_forward(d, source, rows, carried, s, gates);
  const auto layers = static_cast<Int>(d.layers.size());
  const float* fed = nullptr;
  if (!d.luong()) {
    attend_from(d, source, rows, carried, s);
    fed = s.context.data();
  } else if (d.feed > 0) {
    for (Int j = 0; rows.kept != nullptr && j < rows.count; ++j) {
      keep_row(row_of(carried.fed, j), row_of(d.fed, rows.kept[j]), d.result);
    }
    if (!carried.fed_nothing) fed = carried.fed.data();
  }
  if (fed != nullptr) d.feeding.multiply(rows.count, fed, d.feed, 0, s.more.data(), d.width);
  for (Int l = 0; l < layers; ++l) {
    if (l > 0) {
      const float* below = given_above(d, rows, l - 1, carried, s);
      d.layers[static_cast<std::size_t>(l)].below.multiply(rows.count, below, d.units, 0, s.input.data(), d.width);
    }
    cells_forward(d, rows, l, l == 0 && fed != nullptr ? s.more.data() : nullptr, carried, s, gates);
  }
  if (d.luong()) {
    attend_from(d, source, rows, carried, s);
    attentional_forward(d, rows, carried, s);
  }
  carried.fed_nothing = carried.zero_states = false;
}

}  // namespace fovea::decoder
