// From a call of attentional_rnn() to a Decoder: every shape checked, the time loop's matrices packed.
#include "attention/rnn/check.hpp"
#include "attention/rnn/decoder.hpp"
#include "autograd/dropout.hpp"
#include "autograd/recurrent/pass.hpp"

namespace fovea::decoder {
namespace {

using kernels::Trans;

Tensor value_of(const Var& v) {
  return v ? v.value().contiguous() : Tensor();
}

void set_layers(Decoder& d, const std::vector<DecoderLayer>& layers) {
  d.layers.reserve(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    d.layers.emplace_back();
    Layer& layer = d.layers.back();
    layer.weights = layers[l];
    if (d.cell == Cell::lstm) layer.weights.state_bias = Var();
    const auto name = [l](const char* what) { return Name("layers", l, what); };
    const Int in = l == 0 ? d.embedding + d.feed : d.conditional() ? d.memory_width : d.units;
    expect(name(".input"), layer.weights.input, {in, d.width});
    expect(name(".state"), layer.weights.state, {d.units, d.width});
    expect(name(".bias"), layer.weights.bias, {d.width});
    if (d.cell == Cell::gru) expect(name(".state_bias"), layer.weights.state_bias, {d.units});
    layer.bias = value_of(layer.weights.bias);
    layer.state_bias = value_of(layer.weights.state_bias);
    layer.state = StepMatrix(Trans::no, value_of(layer.weights.state), d.storage);
    if (l > 0) layer.below = StepMatrix(Trans::no, value_of(layer.weights.input), d.storage);
  }
  if (d.feed > 0) {
    const Tensor w = value_of(d.layers[0].weights.input);
    d.feeding = StepMatrix(Trans::no, w.slice(0, d.embedding, d.embedding + d.feed), d.storage);
  }
}

void set_local(Decoder& d, const AttentionalRnnWeights& weights, const Local& local) {
  if (local.half_width < 1) throw UsageError(fmt::format("{}: local.half_width must be at least 1", kOp));
  if (local.centers) throw UsageError(fmt::format("{}: local.centers are the decoder's own", kOp));
  d.local = true;
  d.gaussian = local.gaussian;
  d.half_width = local.half_width;
  if (!weights.center) return;
  d.center_dim = rows_of("center", weights.center, 2, "[p,h]");
  expect("center", weights.center, {d.center_dim, d.units});
  expect("center_vector", weights.center_vector, {d.center_dim});
  d.center = weights.center;
  d.center_vector = weights.center_vector;
  d.center_vector_value = value_of(d.center_vector);
  d.centering = StepMatrix(Trans::yes, value_of(d.center), d.storage);
}

}  // namespace

void set_weights(Decoder& d, const AttentionalRnnWeights& weights, const AttentionalRnnOptions& how) {
  if (weights.layers.empty()) throw ShapeError(fmt::format("{}: no layers are given", kOp));
  d.cell = weights.cell;
  d.form = how.form;
  if (d.conditional() && weights.layers.size() != 2) {
    throw ShapeError(
        fmt::format("{}: {} layers: expected the 2 cells of the conditional form, one before the attention and "
                    "one after it",
                    kOp, weights.layers.size()));
  }
  d.units = rows_of("layers[0].state", weights.layers[0].state, 2, "[h,gates h]");
  d.width = gate_count(d.cell) * d.units;
  if (d.luong()) {
    rows_of("attentional", weights.attentional, 2, "[M+h,G]");
    d.result = weights.attentional.dim(1);
    expect("attentional", weights.attentional, {d.memory_width + d.units, d.result});
    expect("attentional_bias", weights.attentional_bias, {d.result});
    d.attentional = weights.attentional;
    d.attentional_bias = weights.attentional_bias;
    d.attentional_bias_value = value_of(d.attentional_bias);
    d.attend = StepMatrix(Trans::no, value_of(d.attentional), d.storage);
  }
  if (!d.conditional()) d.feed = !d.luong() ? d.memory_width : how.input_feeding ? d.result : 0;
  set_layers(d, weights.layers);
  if (how.local) set_local(d, weights, *how.local);
  set_score(d, weights.score);
  d.reading = how.reading;
  d.reading_seed = how.reading_seed;
  if (weights.gate) {
    expect("gate", weights.gate, {d.units});
    expect("gate_bias", weights.gate_bias, {1});
    d.gate = weights.gate;
    d.gate_bias = weights.gate_bias;
    d.gate_value = value_of(d.gate);
    d.gate_bias_value = d.gate_bias.value().item();
  }
  d.query_bias_value = value_of(d.query_bias);
  d.vector_value = value_of(d.vector);
  d.coverage_weight_value = value_of(d.coverage_weight);
  if (d.query_weights) d.query = StepMatrix(d.query_trans, d.query_view, d.storage);
}

void check_first(const Decoder& d, Int batch, std::span<const Var> first, std::span<const Var> first_cell) {
  const auto count = d.states();
  if ((!first.empty() && first.size() != count) || (!first_cell.empty() && first_cell.size() != count)) {
    throw ShapeError(fmt::format("{}: {} first states and {} first cells: expected {} of each, or none", kOp,
                                 first.size(), first_cell.size(), count));
  }
  for (std::size_t l = 0; l < first.size(); ++l) {
    expect(Name("first", l, ""), first[l], {batch, d.units}, true);
  }
  for (std::size_t l = 0; d.cell == Cell::lstm && l < first_cell.size(); ++l) {
    expect(Name("first_cell", l, ""), first_cell[l], {batch, d.units}, true);
  }
}

detail::Ref<Decoder> prepare(const Var& x, const Var& memory, const AttentionalRnnWeights& weights,
                             const AttentionalRnnOptions& how, std::span<const Var> first,
                             std::span<const Var> first_cell, Vector<Var>& inputs) {
  if (!x || x.rank() != 3) {
    throw ShapeError(fmt::format("{}: x {}: expected [B,T,E]", kOp, x ? x.shape().text() : "is missing"));
  }
  const bool shared = !how.memory_rows.empty();
  if (!memory || memory.rank() != 3 || (!shared && memory.dim(0) != x.dim(0)) || memory.dim(1) < 1) {
    throw ShapeError(fmt::format("{}: memory {}: expected [{},S,M] with S at least 1", kOp,
                                 memory ? memory.shape().text() : "is missing", x.dim(0)));
  }
  if (shared && static_cast<Int>(how.memory_rows.size()) != x.dim(0)) {
    throw ShapeError(fmt::format("{}: {} memory rows for a batch of {}", kOp, how.memory_rows.size(), x.dim(0)));
  }
  const kernels::Dropout dropout = make_dropout(kOp, how.dropout);
  detail::Ref<Decoder> made(new Decoder(Sequences(kOp, x.dim(0), x.dim(1), how.lengths, false)));
  Decoder& d = *made.get();
  d.x = x;
  d.batch = x.dim(0);
  d.steps = x.dim(1);
  d.embedding = x.dim(2);
  d.memory_width = memory.dim(2);
  set_weights(d, weights, how);
  d.dropout = d.states() > 1 ? dropout.rate : 0.0F;
  d.dropout_seed = dropout.seed;
  check_first(d, d.batch, first, first_cell);
  // Keys are projected once for all targets that read them.
  const Var keys = keys_of(d, memory);
  const bool same = keys && keys.value().data() == memory.value().data();
  d.memory = shared ? gather(memory, how.memory_rows) : memory;
  d.keys = !shared || !keys ? keys : same ? d.memory : gather(keys, how.memory_rows);
  Vector<Int> lengths;
  for (std::size_t b = 0; shared && !how.memory_lengths.empty() && b < how.memory_rows.size(); ++b) {
    lengths.push_back(how.memory_lengths[static_cast<std::size_t>(how.memory_rows[b])]);
  }
  set_source(d, d.memory, d.keys, shared ? std::span<const Int>(lengths) : how.memory_lengths, d.source);
  d.input = d.targets.compact(x.value().contiguous().reshape({d.batch * d.steps, d.embedding}));

  inputs = {d.x,           d.memory,           d.keys,   d.query_weights, d.query_bias, d.vector,   d.coverage_weight,
            d.attentional, d.attentional_bias, d.center, d.center_vector, d.gate,       d.gate_bias};
  for (std::size_t l = 0; l < d.layers.size(); ++l) {
    Layer& layer = d.layers[l];
    if (l < first.size()) layer.first = first[l];
    if (l < first_cell.size() && d.cell == Cell::lstm) layer.first_cell = first_cell[l];
    layer.first_value = value_of(layer.first);
    layer.first_cell_value = value_of(layer.first_cell);
    const DecoderLayer& w = layer.weights;
    inputs.insert(inputs.end(), {w.input, w.state, w.bias, w.state_bias, layer.first, layer.first_cell});
  }
  d.keep = detail::recording(inputs);
  return made;
}

}  // namespace fovea::decoder
