#include "model/rnn_state.hpp"

#include <numeric>

#include "fovea/ops.hpp"

namespace fovea {
namespace {

// W [h, d] used as x W'.
Var transposed(const Var& w) {
  return w.value().transpose(0, 1).contiguous();
}

Tensor beside(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = a.dim(0);
  const Tensor both = Tensor::empty({rows, a.dim(1) + b.dim(1)});
  both.slice(1, 0, a.dim(1)).copy_from(a);
  both.slice(1, a.dim(1), both.dim(1)).copy_from(b);
  return both;
}

}  // namespace

RnnState::RnnState(const RnnDecoder& decoder, const Memory& memory, bool want_attention)
    : decoder_(decoder), want_attention_(want_attention), sentences_(memory), score_(decoder.weights_.score) {
  const RnnDecoder::Start start = decoder.begin(memory);
  const DecoderLayer& low = decoder.weights_.layers[0];
  const Tensor input = low.input.value();
  input_ = input.slice(0, 0, decoder.embedding_).contiguous();
  if (input.dim(0) > decoder.embedding_) fed_weights_ = input.slice(0, decoder.embedding_, input.dim(0)).contiguous();
  for (const Var& s : start.states) {
    states_.push_back(s.value());
    cells_.push_back(Tensor::zeros(s.shape()));
  }
  if (!decoder.attends()) {
    fed_ = linear(start.summary, fed_weights_).value();
    coverage_ = decoder.from_context_(start.summary).value();
    return;
  }
  Var keys = start.memory;
  if (auto* a = std::get_if<score::Additive>(&score_)) {
    keys = linear(start.memory, transposed(a->u));
    a->u = {};
  }
  sentences_.add(keys.value());
  sentences_.add(start.memory.value());
  if (decoder.coverage_) coverage_ = Tensor::zeros({keys.dim(0), keys.dim(1)});
}

Tensor RnnState::look(const Tensor& queries) {
  const std::int64_t rows = queries.dim(0);
  const std::int64_t width = queries.dim(1);
  Tensor keys = sentences_.array(0);
  Tensor values = sentences_.array(1);
  std::vector<std::int64_t> lengths(sentences_.lengths().begin(), sentences_.lengths().end());
  std::int64_t groups = sentences_.count();
  if (decoder_.coverage_ && groups != rows) {
    // Each row has a coverage of its own, so each needs its own memory.
    std::vector<std::int32_t> repeat(static_cast<std::size_t>(rows));
    for (std::int64_t r = 0; r < rows; ++r)
      repeat[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r / (rows / groups));
    keys = take_rows(keys, repeat);
    values = take_rows(values, repeat);
    std::vector<std::int64_t> each;
    for (const auto s : repeat) each.push_back(lengths[static_cast<std::size_t>(s)]);
    lengths = each;
    groups = rows;
  }
  AttendOptions how{.score = score_, .lengths = lengths};
  if (decoder_.coverage_) std::get<score::Additive>(how.score).coverage = coverage_;
  const Var query = queries.reshape({groups, rows / groups, width});
  if (decoder_.local_ == LocalKind::monotonic) {
    how.local = Local{.half_width = decoder_.local_window_,
                      .centers = Tensor::full({groups, rows / groups}, static_cast<float>(length_))};
  } else if (decoder_.local_ == LocalKind::predictive) {
    how.local = Local{.half_width = decoder_.local_window_,
                      .centers = predict_centers(query, decoder_.weights_.center, decoder_.weights_.center_vector,
                                                 keys.dim(1), lengths),
                      .gaussian = true};
  }
  how.want.weights = want_attention_ || decoder_.coverage_;
  const Attended seen = attend(query, keys, values, how);
  weights_.clear();
  if (how.want.weights) {
    const Tensor w = seen.weights.value().reshape({rows, 1, keys.dim(1)});
    if (decoder_.coverage_) {
      for (std::int64_t i = 0; i < w.size(); ++i) coverage_.data()[i] += w.data()[i];
    }
    weights_.push_back(w);
  }
  return seen.context.value().reshape({rows, values.dim(2)});
}

void RnnState::cells(const Tensor& x, const Tensor& extra) {
  const std::int64_t rows = x.dim(0);
  Var input = x.reshape({rows, 1, x.dim(1)});
  RecurrentOptions how;
  if (extra) how.constant = extra;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const DecoderLayer& l = decoder_.weights_.layers[i];
    const Var weights = i == 0 ? input_ : l.input;
    Recurrent run;
    if (decoder_.weights_.cell == Cell::gru) {
      run = gru(input, {weights, l.state, l.bias, l.state_bias}, how, states_[i]);
    } else {
      run = lstm(input, {weights, l.state, l.bias}, how, states_[i], cells_[i]);
      cells_[i] = run.last_cell.value();
    }
    states_[i] = run.last.value();
    input = run.states;
    how.constant = {};
  }
}

Tensor RnnState::step(const Tensor& embedded) {
  const NoGrad quiet;
  Tensor out;
  if (!decoder_.attends()) {
    cells(embedded, fed_);
    out = add(add(decoder_.from_state_(states_.back()), decoder_.from_input_(embedded)), coverage_).value();
  } else if (!decoder_.luong()) {
    const Tensor context = look(states_.back());
    cells(embedded, linear(context, fed_weights_).value());
    out = decoder_.read_out(states_.back(), context, embedded).value();
  } else {
    cells(embedded, fed_ ? linear(fed_, fed_weights_).value() : Tensor());
    const Tensor context = look(states_.back());
    out = linear(beside(context, states_.back()), decoder_.weights_.attentional, decoder_.weights_.attentional_bias,
                 Activation::tanh)
              .value();
    if (decoder_.feeding_) fed_ = out;
  }
  ++length_;
  return out;
}

void RnnState::keep(std::span<const std::int32_t> rows) {
  for (Tensor& t : states_) t = take_rows(t, rows);
  for (Tensor& t : cells_) t = take_rows(t, rows);
  if (fed_) fed_ = take_rows(fed_, rows);
  if (coverage_) coverage_ = take_rows(coverage_, rows);
  if (decoder_.attends()) sentences_.keep(rows);
}

}  // namespace fovea
