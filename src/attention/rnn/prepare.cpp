// From a call of attentional_rnn() to a Decoder: checks, the score as a sum or product of projected queries and keys.
//   additive  q = h W' + b,  k = m U'                    concat   q = h W_q',  k = m W_k'
//   general   k = m W' (so nothing is projected per step); with the term b . k: q = h W + b, k = m
//   cosine    q = h / |h|,  k = m / |m|                  location  q = h W', no keys
#include <fmt/format.h>

#include <cmath>
#include <variant>

#include "attention/project.hpp"
#include "attention/rnn/decoder.hpp"
#include "autograd/recurrent/pass.hpp"
#include "fovea/error.hpp"

namespace fovea::decoder {
namespace {

using attention::project;
using attention::unit_rows;
using kernels::Trans;

constexpr const char* kOp = "attentional_rnn";

void expect(const std::string& name, const Var& v, const Shape& shape, bool optional = false) {
  if (!v && optional) return;
  if (!v || !(v.shape() == shape)) {
    throw ShapeError(
        fmt::format("{}: {} {}: expected {}", kOp, name, v ? v.shape().text() : "is missing", shape.text()));
  }
}

Int rows_of(const char* name, const Var& v, int rank, const char* expected) {
  if (!v || v.rank() != rank || v.dim(0) < 1) {
    throw ShapeError(fmt::format("{}: {} {}: expected {}", kOp, name, v ? v.shape().text() : "is missing", expected));
  }
  return v.dim(0);
}

// Sets kind, keys, dim and how a query is projected.
struct Transform {
  Decoder& d;

  void same_width(const char* score) const {
    if (d.units != d.memory_width) {
      throw ShapeError(fmt::format("{}: memory of width {}: the {} score expects {}, the state's", kOp, d.memory_width,
                                   score, d.units));
    }
    d.dim = d.units;
  }
  void project_query(const Var& w, Trans trans, Int columns) const {
    d.query_weights = w;
    d.query_trans = trans;
    d.query_view = w.value().contiguous().slice(1, 0, columns);
  }

  void operator()(const score::Dot& how) const {
    same_width("dot");
    d.keys = d.memory;
    d.scale = how.scale.value_or(1.0F);
  }
  void operator()(const score::ScaledDot& how) const {
    same_width("scaled dot");
    d.keys = d.memory;
    d.scale = how.scale.value_or(1.0F / std::sqrt(static_cast<float>(d.units)));
  }
  void operator()(const score::General& how) const {
    expect("score W", how.w, {d.units, d.memory_width});
    expect("score b", how.b, {d.memory_width}, true);
    // Terms that are the same for all keys change no weight.
    expect("score a", how.a, {d.units}, true);
    expect("score c", how.c, {1}, true);
    if (how.b) {
      d.keys = d.memory;
      d.dim = d.memory_width;
      project_query(how.w, Trans::no, d.memory_width);
      d.query_bias = how.b;
    } else {
      d.keys = project(d.memory, how.w, {});
      d.dim = d.units;
    }
  }
  void operator()(const score::Cosine& how) const {
    same_width("cosine");
    if (!(how.epsilon > 0)) throw UsageError(fmt::format("{}: cosine epsilon must be above 0", kOp));
    d.keys = unit_rows(d.memory, how.epsilon);
    d.unit_epsilon = how.epsilon;
    d.scale = how.scale;
  }
  void operator()(const score::Additive& how) const {
    if (how.activation != score::Activation::tanh) {
      throw UsageError(fmt::format("{}: the additive score's activation must be tanh", kOp));
    }
    if (how.coverage) throw UsageError(fmt::format("{}: the additive score's coverage is kept by the decoder", kOp));
    d.kind = Kind::additive;
    d.dim = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {d.dim, d.units}, true);
    expect("score U", how.u, {d.dim, d.memory_width}, true);
    expect("score b", how.b, {d.dim}, true);
    expect("score coverage_weight", how.coverage_weight, {d.dim}, true);
    if (!how.w && d.units != d.dim) expect("score W", how.w, {d.dim, d.units});
    if (!how.u && d.memory_width != d.dim) expect("score U", how.u, {d.dim, d.memory_width});
    if (!how.w && !how.u && how.b) throw UsageError(fmt::format("{}: score b needs W or U to be added to", kOp));
    d.keys = how.u ? project(d.memory, how.u, how.w ? Var() : how.b) : d.memory;
    if (how.w) project_query(how.w, Trans::yes, d.units);
    if (how.w) d.query_bias = how.b;
    d.vector = how.v;
    d.coverage_weight = how.coverage_weight;
  }
  void operator()(const score::Concat& how) const {
    d.kind = Kind::additive;
    d.dim = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {d.dim, d.units + d.memory_width});
    d.keys = project(d.memory, how.w, {}, 1, d.units);
    project_query(how.w, Trans::yes, d.units);
    d.vector = how.v;
  }
  void operator()(const score::Location& how) const {
    d.kind = Kind::location;
    d.dim = rows_of("score W", how.w, 2, "[L,width of the state]");
    if (d.dim < d.source || how.w.dim(1) != d.units) {
      throw ShapeError(fmt::format("{}: score W {}: expected [L,{}] with L at least {}, the length of the memory", kOp,
                                   how.w.shape().text(), d.units, d.source));
    }
    project_query(how.w, Trans::yes, d.units);
  }
  void operator()(const score::Pairwise&) const { refuse("pairwise"); }
  void operator()(const score::Block&) const { refuse("block"); }
  static void refuse(const char* score) {
    throw UsageError(fmt::format("{}: the {} score has no step of its own; use attend()", kOp, score));
  }
};

void check_layers(Decoder& d, std::span<const Var> first, std::span<const Var> first_cell) {
  const auto count = d.layers.size();
  if ((!first.empty() && first.size() != count) || (!first_cell.empty() && first_cell.size() != count)) {
    throw ShapeError(fmt::format("{}: {} first states and {} first cells for {} layers", kOp, first.size(),
                                 first_cell.size(), count));
  }
  for (std::size_t l = 0; l < count; ++l) {
    Layer& layer = d.layers[l];
    const auto name = [l](const char* what) { return fmt::format("layers[{}].{}", l, what); };
    expect(name("input"), layer.weights.input, {l == 0 ? d.embedding + d.feed : d.units, d.width});
    expect(name("state"), layer.weights.state, {d.units, d.width});
    expect(name("bias"), layer.weights.bias, {d.width});
    if (d.cell == Cell::gru) expect(name("state_bias"), layer.weights.state_bias, {d.units});
    layer.first = first.empty() ? Var() : first[l];
    layer.first_cell = first_cell.empty() || d.cell == Cell::gru ? Var() : first_cell[l];
    expect(fmt::format("first[{}]", l), layer.first, {d.batch, d.units}, true);
    expect(fmt::format("first_cell[{}]", l), layer.first_cell, {d.batch, d.units}, true);
  }
}

void set_memory_lengths(Decoder& d, std::span<const std::int32_t> lengths) {
  if (!lengths.empty() && static_cast<Int>(lengths.size()) != d.batch) {
    throw ShapeError(fmt::format("{}: {} memory lengths for a batch of {}", kOp, lengths.size(), d.batch));
  }
  d.memory_lengths.assign(static_cast<std::size_t>(d.batch), d.source);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > d.source) {
      throw ShapeError(
          fmt::format("{}: memory length {} of sequence {} is not in 0 to {}", kOp, lengths[b], b, d.source));
    }
    d.memory_lengths[b] = lengths[b];
  }
}

Tensor value_of(const Var& v) {
  return v ? v.value().contiguous() : Tensor();
}

// Values as plain arrays, and the matrices of the time loop.
void set_values(Decoder& d) {
  d.input = d.targets.compact(d.x.value().contiguous().reshape({d.batch * d.steps, d.embedding}));
  d.memory_value = value_of(d.memory);
  d.keys_value = value_of(d.keys);
  d.query_bias_value = value_of(d.query_bias);
  d.vector_value = value_of(d.vector);
  d.coverage_weight_value = value_of(d.coverage_weight);
  d.attentional_bias_value = value_of(d.attentional_bias);
  d.center_vector_value = value_of(d.center_vector);
  for (std::size_t l = 0; l < d.layers.size(); ++l) {
    Layer& layer = d.layers[l];
    layer.bias = value_of(layer.weights.bias);
    layer.state_bias = value_of(layer.weights.state_bias);
    layer.first_value = value_of(layer.first);
    layer.first_cell_value = value_of(layer.first_cell);
    layer.state = StepMatrix(Trans::no, value_of(layer.weights.state));
    if (l > 0) layer.below = StepMatrix(Trans::no, value_of(layer.weights.input));
  }
  if (d.feed > 0) {
    const Tensor w = value_of(d.layers[0].weights.input);
    d.feeding = StepMatrix(Trans::no, w.slice(0, d.embedding, d.embedding + d.feed));
  }
  if (d.query_weights) d.query = StepMatrix(d.query_trans, d.query_view);
  if (d.attentional) d.attend = StepMatrix(Trans::no, value_of(d.attentional));
  if (d.center) d.centering = StepMatrix(Trans::yes, value_of(d.center));
}

}  // namespace

detail::Ref<Decoder> prepare(const Var& x, const Var& memory, const AttentionalRnnWeights& weights,
                             const AttentionalRnnOptions& how, std::span<const Var> first,
                             std::span<const Var> first_cell, Vector<Var>& inputs) {
  if (!x || x.rank() != 3) {
    throw ShapeError(fmt::format("{}: x {}: expected [B,T,E]", kOp, x ? x.shape().text() : "is missing"));
  }
  if (!memory || memory.rank() != 3 || memory.dim(0) != x.dim(0) || memory.dim(1) < 1) {
    throw ShapeError(fmt::format("{}: memory {}: expected [{},S,M] with S at least 1", kOp,
                                 memory ? memory.shape().text() : "is missing", x.dim(0)));
  }
  if (weights.layers.empty()) throw ShapeError(fmt::format("{}: no layers are given", kOp));
  detail::Ref<Decoder> made(new Decoder(Sequences(kOp, x.dim(0), x.dim(1), how.lengths, false)));
  Decoder& d = *made.get();
  d.cell = weights.cell;
  d.form = how.form;
  d.x = x;
  d.memory = memory;
  d.batch = x.dim(0);
  d.steps = x.dim(1);
  d.embedding = x.dim(2);
  d.source = memory.dim(1);
  d.memory_width = memory.dim(2);
  d.units = rows_of("layers[0].state", weights.layers[0].state, 2, "[h,gates h]");
  d.width = gate_count(d.cell) * d.units;
  if (!(how.dropout >= 0 && how.dropout < 1)) {
    throw UsageError(fmt::format("{}: dropout {}: expected 0 up to below 1", kOp, how.dropout));
  }
  d.dropout = weights.layers.size() > 1 ? how.dropout : 0.0F;
  d.dropout_seed = how.dropout_seed;
  if (d.luong()) {
    rows_of("attentional", weights.attentional, 2, "[M+h,G]");
    d.result = weights.attentional.dim(1);
    expect("attentional", weights.attentional, {d.memory_width + d.units, d.result});
    expect("attentional_bias", weights.attentional_bias, {d.result});
    d.attentional = weights.attentional;
    d.attentional_bias = weights.attentional_bias;
  }
  d.feed = !d.luong() ? d.memory_width : how.input_feeding ? d.result : 0;
  for (const DecoderLayer& layer : weights.layers) {
    d.layers.emplace_back();
    d.layers.back().weights = layer;
    if (d.cell == Cell::lstm) d.layers.back().weights.state_bias = Var();
  }
  check_layers(d, first, first_cell);
  set_memory_lengths(d, how.memory_lengths);
  if (how.local) {
    if (how.local->half_width < 1) throw UsageError(fmt::format("{}: local.half_width must be at least 1", kOp));
    if (how.local->centers) throw UsageError(fmt::format("{}: local.centers are the decoder's own", kOp));
    d.local = true;
    d.gaussian = how.local->gaussian;
    d.half_width = how.local->half_width;
    if (weights.center) {
      d.center_dim = rows_of("center", weights.center, 2, "[p,h]");
      expect("center", weights.center, {d.center_dim, d.units});
      expect("center_vector", weights.center_vector, {d.center_dim});
      d.center = weights.center;
      d.center_vector = weights.center_vector;
    }
  }
  std::visit(Transform{d}, weights.score);
  set_values(d);

  inputs = {d.x,           d.memory,           d.keys,   d.query_weights, d.query_bias, d.vector, d.coverage_weight,
            d.attentional, d.attentional_bias, d.center, d.center_vector};
  for (const Layer& layer : d.layers) {
    const DecoderLayer& w = layer.weights;
    inputs.insert(inputs.end(), {w.input, w.state, w.bias, w.state_bias, layer.first, layer.first_cell});
  }
  d.keep = detail::recording(inputs);
  return made;
}

}  // namespace fovea::decoder
