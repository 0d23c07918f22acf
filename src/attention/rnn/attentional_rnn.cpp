// a recurrent decoder with attention, all steps in one op
//   forward and backward: see decoder.hpp (what there is), step.cpp, attention_step.cpp, backward.cpp,
//   attention_step_backward.cpp, input_gradients.cpp
#include "fovea/attention/attentional_rnn.hpp"

#include "attention/rnn/decoder.hpp"

namespace fovea {
namespace {

using decoder::Decoder;
using kernels::Trans;

// Compact rows in the user's layout: [B, T, width], zeros where there is padding.
Tensor expand(const Decoder& d, const Tensor& rows) {
  if (!rows) return {};
  const Shape shape{d.batch, d.steps, rows.dim(1)};
  if (d.targets.dense()) return rows.reshape(shape);
  Tensor padded = Tensor::empty(shape);
  d.targets.expand(rows, padded, false);
  return padded;
}

Tensor compact(const Decoder& d, const Tensor& padded) {
  return padded ? d.targets.compact(padded.contiguous().reshape({d.batch * d.steps, padded.dim(2)})) : Tensor();
}

// The transposed matrices, which only the backward needs.
void transpose(Decoder& d) {
  for (std::size_t l = 0; l < d.layers.size(); ++l) {
    auto& layer = d.layers[l];
    layer.state_back = StepMatrix(Trans::yes, layer.weights.state.value().contiguous());
    if (l > 0) layer.below_back = StepMatrix(Trans::yes, layer.weights.input.value().contiguous());
  }
  if (d.feed > 0) {
    const Tensor w = d.layers[0].weights.input.value().contiguous();
    d.feeding_back = StepMatrix(Trans::yes, w.slice(0, d.embedding, d.embedding + d.feed));
  }
  if (d.query) d.query_back = StepMatrix(d.query_trans == Trans::yes ? Trans::no : Trans::yes, d.query_view);
  if (d.attend) d.attend_back = StepMatrix(Trans::yes, d.attentional.value().contiguous());
  if (d.centering) d.centering_back = StepMatrix(Trans::no, d.center.value().contiguous());
}

}  // namespace

AttentionalRnn attentional_rnn(const Var& x, const Var& memory, const AttentionalRnnWeights& weights,
                               const AttentionalRnnOptions& how, std::span<const Var> first,
                               std::span<const Var> first_cell) {
  decoder::Vector<Var> inputs;
  const detail::Ref<Decoder> held = decoder::prepare(x, memory, weights, how, first, first_cell, inputs);
  Decoder& d = *held.get();
  decoder::forward(d);

  AttentionalRnn result;
  const Tensor reported = how.want_weights ? expand(d, d.weights) : Tensor();
  if (reported && how.reading != Reading::soft) result.read = expand(d, d.read);
  if (d.luong()) {
    const auto back = [held](std::span<const Tensor> dy) {
      Decoder& k = *held.get();
      transpose(k);
      decoder::backward(k,
                        {.states = {}, .contexts = {}, .attentional = compact(k, dy[0]), .weights = compact(k, dy[1])});
    };
    const Tensor attentional = expand(d, d.results);
    if (reported) {
      record({{&result.attentional, attentional}, {&result.weights, reported}}, inputs, back);
    } else {
      record({{&result.attentional, attentional}}, inputs, back);
    }
  } else {
    const auto back = [held](std::span<const Tensor> dy) {
      Decoder& k = *held.get();
      transpose(k);
      decoder::backward(k, {.states = compact(k, dy[0]),
                            .contexts = compact(k, dy[1]),
                            .attentional = {},
                            .weights = compact(k, dy[2])});
    };
    const Tensor states = expand(d, d.top().states);
    const Tensor contexts = expand(d, d.contexts);
    if (reported) {
      record({{&result.states, states}, {&result.contexts, contexts}, {&result.weights, reported}}, inputs, back);
    } else {
      record({{&result.states, states}, {&result.contexts, contexts}}, inputs, back);
    }
  }
  return result;
}

}  // namespace fovea
