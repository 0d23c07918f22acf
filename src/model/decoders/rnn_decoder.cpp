#include "model/decoders/rnn_decoder.hpp"

#include <algorithm>
#include <optional>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/rnn_state.hpp"
#include "model/decoders/steps.hpp"
#include "model/layer_attention.hpp"

namespace fovea {
namespace {

Score make_score(const RnnDecoderConfig& c, std::int64_t memory, Parameters& p, const std::string& name) {
  const std::int64_t h = c.dim;
  switch (c.attention) {
    case RnnAttention::additive:
    case RnnAttention::concat: {
      // concat is additive with W and U side by side in one matrix (Luong et al. 2015, eq. 8).
      const std::int64_t inner = c.attention_dim > 0 ? c.attention_dim : h;
      score::Additive a{.w = p.get(name + ".query", {inner, h}, Init::xavier),
                        .u = p.get(name + ".key", {inner, memory}, Init::xavier),
                        .v = p.get(name + ".vector", {inner}, Init::xavier)};
      if (c.attention == RnnAttention::additive) a.b = p.get(name + ".bias", {inner}, Init::zeros);
      if (c.coverage) a.coverage_weight = p.get(name + ".coverage", {inner}, Init::zeros);
      return a;
    }
    case RnnAttention::general:
      return score::General{.w = p.get(name + ".general", {h, memory}, Init::xavier)};
    case RnnAttention::location:
      return score::Location{.w = p.get(name + ".location", {c.max_positions, h}, Init::xavier)};
    case RnnAttention::scaled_dot:
      return score::ScaledDot{};
    case RnnAttention::cosine:
      return score::Cosine{.scale = 8};  // a softmax of values in [-1, 1] alone would be nearly even
    default:
      return score::Dot{};
  }
}

DecoderLayer make_cell(const RnnDecoderConfig& c, const std::string& name, std::int64_t in, Parameters& p) {
  const std::int64_t h = c.dim;
  const std::int64_t gates = c.cell == Cell::gru ? 3 : 4;
  DecoderLayer cell{.input = p.get(name + ".input", {in, gates * h}, Init::xavier, MatrixLayout::in_out),
                    .state = p.get(name + ".state", {h, gates * h}, Init::recurrent, MatrixLayout::in_out),
                    .bias = p.get(name + ".bias", {gates * h}, Init::zeros)};
  if (c.cell == Cell::gru) cell.state_bias = p.get(name + ".state_bias", {h}, Init::zeros);
  return cell;
}

DecoderForm form_of(RnnForm form) {
  switch (form) {
    case RnnForm::luong:
      return DecoderForm::luong;
    case RnnForm::conditional:
      return DecoderForm::conditional;
    case RnnForm::gated:
      return DecoderForm::bahdanau;
    default:
      return DecoderForm::bahdanau;
  }
}

// Values of the first layers, as many as exist.
template <class Vars>
std::vector<Tensor> values_of(const Vars& vars, std::size_t count) {
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < count && i < vars.size(); ++i) values.push_back(vars[i].value());
  return values;
}

bool needs_same_width(RnnAttention a) {
  return a == RnnAttention::dot || a == RnnAttention::scaled_dot || a == RnnAttention::cosine;
}

}  // namespace

RnnDecoder::RnnDecoder(const RnnDecoderConfig& config, const DecoderSizes& sizes, Parameters& p,
                       const std::string& name)
    : config_(config), name_(name), sizes_(sizes), attended_width_(sizes.memory) {
  if (sizes.memory == 0 && attends()) throw UsageError("attention", "must be none for an RNN decoder without a memory");
  const std::int64_t width = config.dim;
  if (needs_same_width(config.attention) && sizes.memory != width) {
    project_memory_ = Linear(p, name + ".memory", sizes.memory, width, {.bias = false});
    attended_width_ = width;
  }
  const bool with_context = (!luong() && !conditional()) || !attends();
  const std::int64_t fed = with_context ? attended_width_ : config.input_feeding ? width : 0;
  weights_.cell = config.cell;
  std::int64_t in = sizes.embedding + fed;
  for (int i = 0; i < config.layers; ++i) {
    const std::string at = name + "." + std::to_string(i);
    (conditional() && i > 0 ? above_ : weights_.layers).push_back(make_cell(config, at, in, p));
    if (sizes.memory > 0 && !config.layers_start) first_.emplace_back(p, at + ".first", sizes.memory, width);
    in = width;
  }
  if (conditional()) weights_.layers.push_back(make_cell(config, name + ".second", attended_width_, p));
  if (attends()) {
    weights_.score = make_score(config, attended_width_, p, name + ".attention");
    if (config.local == LocalKind::predictive) {
      weights_.center = p.get(name + ".center.weight", {width, width}, Init::xavier);
      weights_.center_vector = p.get(name + ".center.vector", {width}, Init::xavier);
    }
    if (config.form == RnnForm::gated) {
      weights_.gate = p.get(name + ".gate.weight", {width}, Init::zeros);
      weights_.gate_bias = p.get(name + ".gate.bias", {1}, Init::ones);
    }
  }
  if (luong() && attends()) {
    weights_.attentional =
        p.get(name + ".attentional.weight", {attended_width_ + width, width}, Init::xavier, MatrixLayout::in_out);
    weights_.attentional_bias = p.get(name + ".attentional.bias", {width}, Init::zeros);
  } else {
    from_state_ = Linear(p, name + ".out.state", width, this->width());
    if (sizes.memory > 0)
      from_context_ = Linear(p, name + ".out.context", attended_width_, this->width(), {.bias = false});
    from_input_ = Linear(p, name + ".out.input", sizes.embedding, this->width(), {.bias = false});
  }
  if (!p.packed()) return;
  weights_.storage = *p.packed();
  if (attends()) packed_ = packed();
  packed_layers_ = packed_layers();
}

AttentionalRnnOptions RnnDecoder::options() const {
  AttentionalRnnOptions how{.form = form_of(config_.form), .input_feeding = config_.input_feeding};
  if (config_.attention_kind == Focus::hard) how.reading = Reading::hard;
  if (config_.local != LocalKind::none) {
    how.local = Local{.half_width = config_.local_window, .gaussian = config_.local == LocalKind::predictive};
  }
  return how;
}

std::shared_ptr<const PackedAttentionalRnn> RnnDecoder::packed() const {
  if (packed_) return packed_;
  return std::make_shared<const PackedAttentionalRnn>(weights_, options(), sizes_.embedding, attended_width_);
}

std::shared_ptr<const RnnDecoder::PackedLayers> RnnDecoder::packed_layers() const {
  if (packed_layers_) return packed_layers_;
  auto all = std::make_shared<PackedLayers>();
  for (const DecoderLayer& l : above_) all->steppers.push_back(packed_layer(l, l.input));
  if (attends()) return all;
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const DecoderLayer& l = weights_.layers[i];
    all->steppers.push_back(
        packed_layer(l, i == 0 ? Var(l.input.value().slice(0, 0, sizes_.embedding).contiguous()) : l.input));
  }
  const Tensor low = weights_.layers[0].input.value();
  if (low.dim(0) > sizes_.embedding) {
    all->summary = std::make_unique<const PackedWeight>(low.slice(0, sizes_.embedding, low.dim(0)).contiguous(),
                                                        MatrixLayout::in_out, weights_.storage);
  }
  return all;
}

RecurrentStepper RnnDecoder::packed_layer(const DecoderLayer& l, const Var& input) const {
  const auto pack = [this](const Var& w) {
    return std::make_shared<const PackedWeight>(w.value(), MatrixLayout::in_out, weights_.storage);
  };
  if (weights_.cell == Cell::gru) {
    return RecurrentStepper(GruWeights{input, l.state, l.bias, l.state_bias, pack(input), pack(l.state)});
  }
  return RecurrentStepper(LstmWeights{input, l.state, l.bias, pack(input), pack(l.state)});
}

Recurrent RnnDecoder::run_layer(const DecoderLayer& l, const Var& input, const Var& x, const RecurrentOptions& how,
                                const Start& start, std::size_t number) const {
  if (weights_.cell == Cell::gru) return gru(x, {input, l.state, l.bias, l.state_bias}, how, start.states[number]);
  return lstm(x, {input, l.state, l.bias}, how, start.states[number], start.first_cell(number));
}

Var RnnDecoder::above(const Var& states, const Start& start, std::span<const std::int64_t> lengths, Pass& pass) const {
  Var x = states;
  for (std::size_t i = 0; i < above_.size(); ++i) {
    x = pass.drop(x);
    const Var given = run_layer(above_[i], above_[i].input, x, {.lengths = lengths}, start, i + 1).states;
    x = config_.residual ? add(x, given) : given;
  }
  return x;
}

RnnDecoder::Start RnnDecoder::begin(const Memory* memory, std::int64_t rows) const {
  Start s;
  if (memory == nullptr) {
    for (int i = 0; i < config_.layers; ++i) s.states.emplace_back(Tensor::zeros({rows, config_.dim}));
    return s;
  }
  s.memory = project_memory_ ? project_memory_(memory->states) : memory->states;
  if (config_.layers_start) {
    s.summary = memory->summary;
    for (const Var& state : memory->last) s.states.push_back(memory->for_targets(state));
    for (const Var& cell : memory->last_cells) s.cells.push_back(memory->for_targets(cell));
    return s;
  }
  const bool last = memory->summary && !config_.mean_start;
  s.summary = last ? memory->summary : mean_rows(memory->states, memory->lengths);
  for (const Linear& layer : first_) s.states.push_back(memory->for_targets(layer(s.summary, Activation::tanh)));
  if (config_.cells_start) s.cells = s.states;
  return s;
}

Var RnnDecoder::read_out(const Var& states, const Var& contexts, const Var& embedded) const {
  return activated(add(add(from_state_(states), from_context_(contexts)), from_input_(embedded)));
}

Var RnnDecoder::activated(const Var& sum) const {
  return config_.readout == Activation::none ? sum : bias_activation(sum, {}, config_.readout);
}

Decoded RnnDecoder::decode_plain(const Start& start, const Var& embedded, std::span<const std::int64_t> lengths,
                                 Pass& pass) const {
  const DecoderLayer& low = weights_.layers[0];
  RecurrentOptions how{.lengths = lengths};
  if (start.summary) how.constant = linear(start.summary, slice(low.input, 0, sizes_.embedding, low.input.dim(0)));
  Var x = embedded;
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const DecoderLayer& l = weights_.layers[i];
    const Var input = i == 0 ? slice(l.input, 0, 0, sizes_.embedding) : l.input;
    x = run_layer(l, input, x, how, start, i).states;
    if (i + 1 < weights_.layers.size()) x = pass.drop(x);
    how.constant = {};
  }
  // The context is the same at every step: its part of the sum is computed once per sentence.
  const Var without_context = add(from_state_(x), from_input_(embedded));
  pass.note(name_, "embedded", embedded);
  if (start.summary) pass.note(name_, "summary", start.summary);
  pass.note(name_, "state", x);
  Decoded out;
  out.states = pass.drop(
      activated(start.summary ? add_to_rows(without_context, from_context_(start.summary)) : without_context));
  pass.note(name_, "output", out.states);
  return out;
}

Decoded RnnDecoder::decode(const Memory* memory, const Sequence& target, Pass& pass,
                           const DecoderAttention& want) const {
  Start s = begin(memory, target.values.dim(0));
  const Var e = pass.drop(target.values);
  if (!attends()) {
    if (s.summary) s.summary = memory->for_targets(s.summary);
    return decode_plain(s, e, target.lengths, pass);
  }
  if (pass.trace != nullptr || pass.interventions != nullptr || pass.top > 0) {
    return decode_by_steps(s, *memory, e, pass, want);
  }
  AttentionalRnnOptions how = options();
  how.lengths = target.lengths;
  how.memory_lengths = memory->lengths;
  how.memory_rows = memory->rows;
  how.dropout = pass.next(pass.rates.all);
  if (how.reading != Reading::soft && recording({s.memory, weights_.layers[0].state})) {
    how.reading = Reading::sampled;
    how.reading_seed = pass.next(0.5F).seed;
  }
  how.want_weights = want.cross || want.copy;
  const std::span<const Var> states(s.states.data(), attending_states());
  const std::span<const Var> cells(s.cells.data(), s.cells.empty() ? 0 : attending_states());
  const AttentionalRnn run = attentional_rnn(e, s.memory, weights_, how, states, cells);
  Decoded out;
  out.read = run.read;
  out.states =
      pass.drop(luong() ? run.attentional : read_out(above(run.states, s, target.lengths, pass), run.contexts, e));
  if (want.copy) out.copy = run.weights;
  if (want.cross) {
    const Var& w = run.weights;  // [batch, length, source length]
    out.cross.push_back(reshape(w, {w.dim(0), 1, w.dim(1), w.dim(2)}));
  }
  return out;
}

Decoded RnnDecoder::decode_by_steps(const Start& s, const Memory& memory, const Var& embedded, Pass& pass,
                                    const DecoderAttention& want) const {
  const NoGrad quiet;
  const std::int64_t length = embedded.dim(1);
  const std::shared_ptr<const PackedAttentionalRnn> packed_now = packed();
  AttentionalRnnStepper stepper(*packed_now, s.memory.value(), memory.lengths, values_of(s.states, attending_states()),
                                values_of(s.cells, attending_states()));
  Steps states, contexts, attentional, weights, scores, queries;
  LargestOfSteps largest(want.cross ? std::min(pass.top, s.memory.dim(1)) : 0);
  for (std::int64_t t = 0; t < length; ++t) {
    const auto editor = editor_of(pass.interventions, AttentionKind::cross, 0, t);
    const AttentionalRnnStep at =
        stepper.step(embedded.value().select(1, t).contiguous(),
                     {.scores = pass.trace != nullptr, .editor = editor ? &*editor : nullptr});
    states.add(at.state);
    contexts.add(at.context);
    if (luong()) attentional.add(at.attentional);
    if (pass.trace != nullptr) {
      scores.add(at.scores);
      queries.add(at.query);
    }
    if (pass.trace != nullptr || want.copy || (want.cross && pass.top == 0)) weights.add(at.weights);
    largest.add(at.weights);
  }
  Decoded out;
  const Var top = luong() ? Var(states.all()) : above(states.all(), s, {}, pass);
  out.states = luong() ? Var(attentional.all()) : read_out(top, contexts.all(), embedded);
  if (want.copy) out.copy = weights.all();
  if (want.cross && pass.top == 0) {
    const Tensor w = weights.all();
    out.cross.emplace_back(w.reshape({w.dim(0), 1, w.dim(1), w.dim(2)}));
  }
  if (want.cross && pass.top > 0) out.cross_top.push_back(largest.all());
  if (pass.trace != nullptr) {
    pass.note(name_, "embedded", embedded);
    pass.note(name_, "first", s.states.back());
    const std::string attention = name_ + ".attention";
    if (const Tensor keys = stepper.keys()) pass.note(attention, "key", keys);
    pass.note(attention, "value", s.memory);
    pass.note(attention, "query", queries.all());
    pass.note(attention, "scores", scores.all());
    pass.note(attention, "weights", weights.all());
    pass.note(attention, "context", contexts.all());
    pass.note(name_, "state", top);
    if (luong()) pass.note(name_, "attentional", attentional.all());
    pass.note(name_, "output", out.states);
  }
  return out;
}

std::unique_ptr<DecoderState> RnnDecoder::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                const Interventions* interventions) const {
  const NoGrad quiet;
  if (!attends()) return std::make_unique<PlainRnnState>(*this, memory, rows);
  return std::make_unique<RnnState>(*this, *memory, want_attention, interventions);
}

}  // namespace fovea
