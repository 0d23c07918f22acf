// The time loop backwards, from each sequence's last step to its first.
//   Luong     dg = outputs' + fed';  d[c; h] = dg (1 - g^2) A';  dh += attend_backward(dc);  cells;  fed' = D W_fed'
//   Bahdanau  dh = outputs';  cells;  dc = outputs' + D W_fed';  dh of the step before += attend_backward(dc)
//   conditional  dh = outputs';  cell_2;  dc = outputs' + D_2 W_2';  dk += attend_backward(dc);  cell_1
#include "attention/rnn/decoder.hpp"
#include "attention/rnn/gradients.hpp"
#include "attention/rnn/layer_dropout.hpp"
#include "attention/rnn/step.hpp"
#include "autograd/recurrent/rows.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rnn.hpp"

namespace fovea::decoder {
namespace {

struct BackState {
  BackState(const Decoder& d, Int rows)
      : products(Tensor::empty({rows, d.width})),
        inputs(d.cell == Cell::gru ? Tensor::empty({rows, d.width}) : products),
        dfed(d.luong() && d.feed == 0 ? Tensor() : Tensor::zeros({rows, d.luong() ? d.feed : d.memory_width})),
        dresult(d.luong() ? Tensor::empty({rows, d.result}) : Tensor()),
        djoined(d.luong() ? Tensor::empty({rows, d.memory_width + d.units}) : Tensor()),
        dquery(Tensor::empty({rows, d.units})),
        dcoverage(d.coverage_weight ? Tensor::zeros({rows, d.source.steps}) : Tensor()),
        attention(d, d.source, rows) {
    for (std::size_t l = 0; l < d.states(); ++l) {
      carry.push_back(Tensor::zeros({rows, d.units}));
      carry_cell.push_back(d.cell == Cell::lstm ? Tensor::zeros({rows, d.units}) : Tensor());
    }
  }
  Vector<Tensor> carry, carry_cell;  // per state [rows, h]: of it and its cell after the step
  Tensor products, inputs;           // [rows, gates h]: the factors D of U and of W
  Tensor dfed;                       // [rows, F]; conditional: of the context [rows, M]
  Tensor dresult, djoined;
  Tensor dquery;     // [rows, h]
  Tensor dcoverage;  // [rows, S]
  AttentionScratch attention;
};

class ChunkBack {
 public:
  ChunkBack(const Decoder& d, Int c, const Gradients& g)
      : d_(d),
        g_(g),
        c_(c),
        chunk_(d.targets.chunk(c)),
        s_(d, static_cast<Int>(chunk_.size())),
        kept_(chunk_.size()),
        sums_{.vector = start(g.vector, d.dim),
              .coverage_weight = start(g.coverage_weight, d.dim),
              .query_bias = start(g.query_bias, d.dim),
              .center_vector = start(g.center_vector, d.center_dim)},
        dresult_bias_(start(g.attentional_bias, d.result)) {
    for (const Tensor& bias : g.bias) start(bias, 4 * d.units);
  }

  void run() {
    const auto count = static_cast<Int>(chunk_.size());
    for (Int step = count == 0 ? -1 : d_.targets.length(chunk_[0]) - 1; step >= 0; --step) {
      const Int active = d_.targets.running(chunk_, count, step);
      for (Int j = 0; j < active; ++j) kept_[static_cast<std::size_t>(j)] = d_.targets.row(sequence(j), step);
      const AttentionRows rows{.count = active, .step = step, .sequence = chunk_.data(), .kept = kept_.data()};
      if (d_.luong()) attentional_back(rows);
      for (Int l = static_cast<Int>(d_.layers.size()) - 1; l >= 0; --l) {
        cells_back(rows, l);
        if (l == 0) break;
        if (d_.conditional()) {
          context_back(rows, d_.layers[1].below_back);
        } else {
          below_back(rows, l);
        }
      }
      if (d_.form == DecoderForm::bahdanau) {
        context_back(rows, d_.feeding_back);
      } else if (d_.feed > 0 && step > 0) {
        d_.feeding_back.multiply(active, s_.inputs.data(), d_.width, 0, s_.dfed.data(), d_.feed);
      }
    }
    for (std::size_t l = 0; l < d_.states(); ++l) {
      for (Int j = 0; j < count; ++j) {
        if (g_.first[l]) copy_row(row_of(s_.carry[l], j), row_of(g_.first[l], sequence(j)), d_.units);
        if (g_.first_cell[l]) copy_row(row_of(s_.carry_cell[l], j), row_of(g_.first_cell[l], sequence(j)), d_.units);
      }
    }
  }

 private:
  [[nodiscard]] Int sequence(Int j) const { return chunk_[static_cast<std::size_t>(j)]; }

  // This chunk's row of sums, from 0.
  float* start(const Tensor& sums, Int width) const {
    if (!sums) return nullptr;
    zero_row(row_of(sums, c_), width);
    return row_of(sums, c_);
  }

  // Leaves the gradient of the top state in dquery.
  void attentional_back(const AttentionRows& rows) {
    const Int joined = d_.memory_width + d_.units;
    for (Int j = 0; j < rows.count; ++j) {
      const Int kept = rows.kept[j];
      float* dg = row_of(s_.dresult, j);
      keep_row(row_of(g_.outputs.attentional, kept), dg, d_.result);
      // At a sequence's last step nothing was fed to a later one: dfed still is what it was made with, zeros.
      if (s_.dfed) add_row(row_of(s_.dfed, j), dg, d_.result);
      kernels::active().math->tanh_backward(row_of(d_.results, kept), dg, dg, static_cast<std::size_t>(d_.result),
                                            false);
      if (dresult_bias_ != nullptr) add_row(dg, dresult_bias_, d_.result);
      keep_row(dg, row_of(g_.results, kept), d_.result);
    }
    d_.attend_back.multiply(rows.count, s_.dresult.data(), d_.result, 0, s_.djoined.data(), joined);
    attend_backward(d_, rows, s_.djoined.data(), joined, g_.outputs.weights, coverage(), s_.dquery.data(), g_.attention,
                    sums_, s_.attention);
    for (Int j = 0; j < rows.count; ++j) {
      add_row(row_of(s_.djoined, j) + d_.memory_width, row_of(s_.dquery, j), d_.units);
    }
  }

  // D W' is the gradient of the context that entered by W; the query was the state before that.
  void context_back(const AttentionRows& rows, const StepMatrix& entered) {
    for (Int j = 0; j < rows.count; ++j) {
      keep_row(row_of(g_.outputs.contexts, rows.kept[j]), row_of(s_.dfed, j), d_.memory_width);
    }
    entered.multiply(rows.count, s_.inputs.data(), d_.width, 1, s_.dfed.data(), d_.memory_width);
    attend_backward(d_, rows, s_.dfed.data(), d_.memory_width, g_.outputs.weights, coverage(), s_.dquery.data(),
                    g_.attention, sums_, s_.attention);
    for (Int j = 0; j < rows.count; ++j) add_row(row_of(s_.dquery, j), row_of(s_.carry.back(), j), d_.units);
  }

  void cells_back(const AttentionRows& rows, Int l) {
    const auto& rnn = *kernels::active().rnn;
    const auto at = static_cast<std::size_t>(l);
    const Layer& layer = d_.layers[at];
    const bool top = at + 1 == d_.layers.size();
    // A layer's state comes from its own last step; of two cells in turn, the first's from the second's last step, the
    // second's from the first's same step.
    const bool second = d_.conditional() && top;
    const Layer& from = d_.conditional() ? d_.layers[1 - at] : layer;
    const Tensor& carry = s_.carry[d_.state_of(at)];
    for (Int j = 0; j < rows.count; ++j) {
      const Int b = sequence(j);
      const Int kept = rows.kept[j];
      const Int earlier = second ? kept : rows.step == 0 ? -1 : d_.targets.row(b, rows.step - 1);
      const float* before = earlier < 0 ? row_of(layer.first_value, b) : row_of(from.states, earlier);
      keep_row(before, row_of(g_.before[at], kept), d_.units);
      const float* dout = !top ? nullptr : d_.luong() ? row_of(s_.dquery, j) : row_of(g_.outputs.states, kept);
      if (d_.cell == Cell::gru) {
        rnn.gru_backward(d_.units, {row_of(layer.gates, kept), before, dout, row_of(carry, j), row_of(s_.products, j),
                                    row_of(s_.inputs, j), row_of(g_.bias[at], c_)});
      } else {
        const float* cell_before = earlier < 0 ? row_of(layer.first_cell_value, b) : row_of(from.cells, earlier);
        rnn.lstm_backward(d_.units,
                          {row_of(layer.gates, kept), row_of(layer.cells, kept), cell_before, dout, row_of(carry, j),
                           row_of(s_.carry_cell[d_.state_of(at)], j), row_of(s_.products, j), row_of(g_.bias[at], c_)});
      }
    }
    if (rows.step > 0 || second || g_.first[at]) {
      // A GRU's row has left z D in the carry; an LSTM's carry comes from the product alone.
      layer.state_back.multiply(rows.count, s_.products.data(), d_.width, d_.cell == Cell::gru ? 1.0F : 0.0F,
                                carry.data(), d_.units);
    }
  }

  // What layer l's input says to the state of the layer below, at the same step.
  void below_back(const AttentionRows& rows, Int l) {
    const Layer& layer = d_.layers[static_cast<std::size_t>(l)];
    const Tensor& carry = s_.carry[static_cast<std::size_t>(l - 1)];
    if (!(d_.dropout > 0)) {
      layer.below_back.multiply(rows.count, s_.inputs.data(), d_.width, 1, carry.data(), d_.units);
      return;
    }
    layer.below_back.multiply(rows.count, s_.inputs.data(), d_.width, 0, s_.dquery.data(), d_.units);
    for (Int j = 0; j < rows.count; ++j) {
      drop(d_, l - 1, rows.sequence[j], rows.step, row_of(s_.dquery, j), row_of(carry, j), true);
    }
  }

  float* coverage() { return s_.dcoverage ? s_.dcoverage.data() : nullptr; }

  const Decoder& d_;
  const Gradients& g_;
  Int c_;
  std::span<const std::int32_t> chunk_;
  BackState s_;
  Vector<Int> kept_;
  AttentionSums sums_;
  float* dresult_bias_;
};

}  // namespace

Gradients::Gradients(const Decoder& d, const OutputGradients& given) : outputs(given) {
  const Int rows = d.targets.rows();
  const Int chunks = d.targets.chunks();
  const auto array = [](bool wanted, Int count, Int width) {
    return wanted ? Tensor::empty({count, width}) : Tensor();
  };
  for (const Layer& layer : d.layers) {
    before.push_back(array(true, rows, d.units));
    bias.push_back(array(true, chunks, 4 * d.units));
    first.push_back(array(layer.first.requires_grad(), d.batch, d.units));
    first_cell.push_back(array(layer.first_cell.requires_grad(), d.batch, d.units));
  }
  attention.contexts = array(d.memory.requires_grad(), rows, d.memory_width);
  attention.scores = array(d.kind == Kind::dot && d.keys.requires_grad(), rows, d.source.steps);
  attention.queries = array(d.query_weights.requires_grad(), rows, d.dim);
  attention.centers = array(d.center.requires_grad(), rows, d.center_dim);
  attention.gates = array(static_cast<bool>(d.gate), rows, 1);
  if (d.kind == Kind::additive && d.keys.requires_grad()) {
    attention.keys = d.keys.grad_target();
    if (!attention.keys.add) attention.keys.tensor.fill(0);
  }
  results = array(d.attentional.requires_grad(), rows, d.result);
  attentional_bias = array(d.attentional_bias.requires_grad(), chunks, d.result);
  vector = array(d.vector.requires_grad(), chunks, d.dim);
  coverage_weight = array(d.coverage_weight.requires_grad(), chunks, d.dim);
  query_bias = array(d.query_bias.requires_grad(), chunks, d.dim);
  center_vector = array(d.center_vector.requires_grad(), chunks, d.center_dim);
}

void backward_chunk(const Decoder& d, Int c, const Gradients& g) {
  ChunkBack(d, c, g).run();
}

void backward(Decoder& d, const OutputGradients& outputs) {
  const Gradients g(d, outputs);
  parallel_for(d.targets.chunks(), 1, [&](Int begin, Int end) {
    for (Int c = begin; c < end; ++c) backward_chunk(d, c, g);
  });
  input_gradients(d, g);
}

}  // namespace fovea::decoder
