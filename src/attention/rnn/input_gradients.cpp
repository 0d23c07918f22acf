// After the loop: every weight's gradient is one product over all rows, the memory's one small product per sequence.
#include <algorithm>

#include "attention/rnn/decoder.hpp"
#include "attention/rnn/gradients.hpp"
#include "autograd/recurrent/products.hpp"
#include "autograd/recurrent/rows.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"

namespace fovea::decoder {
namespace {

using kernels::Trans;

// W and U of one layer, and its biases. A GRU's gates are D_r, D_z, D_n, D_m: the first three are factors of W, all but
// D_n factors of U.
void layer_gradients(const Decoder& d, const Gradients& g, std::size_t l) {
  const Layer& layer = d.layers[l];
  const Tensor sums = layer.gates.slice(1, 0, d.width);
  if (layer.weights.input.requires_grad()) {
    const GradTarget dw = layer.weights.input.grad_target();
    if (l > 0) {
      multiply(Trans::yes, Trans::no, d.conditional() ? d.contexts : d.layers[l - 1].dropped, sums, dw.add, dw.tensor);
    } else {
      multiply(Trans::yes, Trans::no, d.input, sums, dw.add, dw.tensor.slice(0, 0, d.embedding));
      if (d.feed > 0) {
        const Tensor to = dw.tensor.slice(0, d.embedding, d.embedding + d.feed);
        multiply(Trans::yes, Trans::no, d.luong() ? d.fed : d.contexts, sums, dw.add, to);
      }
    }
  }
  state_weight_gradient(d.cell, g.before[l], layer.gates, layer.weights.state);
  add_rows(g.bias[l], 0, d.width, layer.weights.bias);
  if (d.cell == Cell::gru) add_rows(g.bias[l], d.width, d.width + d.units, layer.weights.state_bias);
  if (g.first[l]) layer.first.accumulate(g.first[l]);
  if (g.first_cell[l]) layer.first_cell.accumulate(g.first_cell[l]);
}

// x: D W_x'
void embedding_gradient(const Decoder& d) {
  if (!d.x.requires_grad()) return;
  const GradTarget dx = d.x.grad_target();
  const Tensor to = dx.tensor.reshape({-1, d.embedding});
  const Tensor w = d.layers[0].weights.input.value().contiguous().slice(0, 0, d.embedding);
  const Tensor sums = d.layers[0].gates.slice(1, 0, d.width);
  if (d.targets.dense()) {
    multiply(Trans::no, Trans::yes, sums, w, dx.add, to);
    return;
  }
  const Tensor compact = Tensor::empty({d.targets.rows(), d.embedding});
  multiply(Trans::no, Trans::yes, sums, w, false, compact);
  d.targets.expand(compact, to, dx.add);
}

// Of each sequence's memory a' dc, over its steps; of a dot product's keys scale ds' q.
void memory_gradients(const Decoder& d, const Gradients& g) {
  const auto per_sequence = [&](const Var& to, const Tensor& weights, const Tensor& rows, Int width, float scale) {
    if (!to.requires_grad()) return;
    const GradTarget target = to.grad_target();
    parallel_for(d.batch, 4, [&](Int begin, Int end) {
      const Tensor block = Tensor::empty({std::max<Int>(1, d.source.steps), std::max<Int>(1, width)});
      for (Int b = begin; b < end; ++b) {
        const Int steps = d.targets.length(b);
        const Int length = steps == 0 ? 0 : d.source.length(b);
        float* out = target.tensor.data() + b * d.source.steps * width;
        if (!target.add) zero_row(out + length * width, (d.source.steps - length) * width);
        if (length == 0) continue;
        const Int first = d.targets.row(b, 0);
        // A scale of 1 needs no block in between.
        const bool direct = scale == 1.0F;
        kernels::gemm(Trans::yes, Trans::no, length, width, steps, row_of(weights, first), d.source.steps,
                      row_of(rows, first), rows.stride(0), direct && target.add ? 1.0F : 0.0F,
                      direct ? out : block.data(), width);
        for (Int i = 0; !direct && i < length * width; ++i) {
          out[i] = scale * block.data()[i] + (target.add ? out[i] : 0.0F);
        }
      }
    });
  };
  per_sequence(d.memory, d.read, g.attention.contexts, d.memory_width, 1);
  if (d.kind == Kind::dot) per_sequence(d.keys, g.attention.scores, d.queries, d.dim, d.scale);
}

void attention_gradients(const Decoder& d, const Gradients& g) {
  // Bahdanau's query is the state before the step, the conditional form's the one before its second cell.
  const Tensor& queries = d.luong() ? d.top().states : g.before.back();
  if (d.query_weights.requires_grad()) {
    const GradTarget dw = d.query_weights.grad_target();
    const bool whole = d.query_view.shape() == dw.tensor.shape();
    if (!whole && !dw.add) dw.tensor.fill(0);
    const Tensor to = whole ? dw.tensor : dw.tensor.slice(1, 0, d.units);
    const bool add = dw.add || !whole;
    if (d.query_trans == Trans::yes) {
      multiply(Trans::yes, Trans::no, g.attention.queries, queries, add, to);
    } else {
      multiply(Trans::yes, Trans::no, queries, g.attention.queries, add, to);
    }
  }
  if (d.center.requires_grad()) {
    const GradTarget dw = d.center.grad_target();
    multiply(Trans::yes, Trans::no, g.attention.centers, queries, dw.add, dw.tensor);
  }
  if (d.gate.requires_grad()) {
    const GradTarget dw = d.gate.grad_target();
    multiply(Trans::yes, Trans::no, g.attention.gates, queries, dw.add, dw.tensor.reshape({1, d.units}));
  }
  if (d.gate_bias.requires_grad()) {
    double sum = 0;
    for (const float dz : g.attention.gates.values()) sum += dz;
    d.gate_bias.accumulate(Tensor::full({1}, static_cast<float>(sum)));
  }
  if (d.attentional.requires_grad()) {
    const GradTarget dw = d.attentional.grad_target();
    multiply(Trans::yes, Trans::no, d.joined, g.results, dw.add, dw.tensor);
  }
  if (g.attentional_bias) add_rows(g.attentional_bias, 0, d.result, d.attentional_bias);
  if (g.vector) add_rows(g.vector, 0, d.dim, d.vector);
  if (g.coverage_weight) add_rows(g.coverage_weight, 0, d.dim, d.coverage_weight);
  if (g.query_bias) add_rows(g.query_bias, 0, d.dim, d.query_bias);
  if (g.center_vector) add_rows(g.center_vector, 0, d.center_dim, d.center_vector);
}

}  // namespace

void input_gradients(const Decoder& d, const Gradients& g) {
  for (std::size_t l = 0; l < d.layers.size(); ++l) layer_gradients(d, g, l);
  embedding_gradient(d);
  memory_gradients(d, g);
  attention_gradients(d, g);
}

}  // namespace fovea::decoder
