#include "model/rnn_decoder.hpp"

#include "fovea/ops.hpp"
#include "model/rnn_state.hpp"

namespace fovea {
namespace {

Score make_score(const ModelConfig& c, std::int64_t memory, Parameters& p) {
  const std::int64_t h = c.dim;
  const std::string name = "decoder.attention.";
  switch (c.attention) {
    case RnnAttention::additive:
    case RnnAttention::concat: {
      // concat is additive with W and U side by side in one matrix (Luong et al. 2015, eq. 8).
      score::Additive a{.w = p.get(name + "query", {h, h}, Init::xavier),
                        .u = p.get(name + "key", {h, memory}, Init::xavier),
                        .v = p.get(name + "vector", {h}, Init::xavier)};
      if (c.attention == RnnAttention::additive) a.b = p.get(name + "bias", {h}, Init::zeros);
      if (c.coverage) a.coverage_weight = p.get(name + "coverage", {h}, Init::zeros);
      return a;
    }
    case RnnAttention::general:
      return score::General{.w = p.get(name + "general", {h, memory}, Init::xavier)};
    case RnnAttention::location:
      return score::Location{.w = p.get(name + "location", {c.max_positions, h}, Init::xavier)};
    case RnnAttention::scaled_dot:
      return score::ScaledDot{};
    case RnnAttention::cosine:
      return score::Cosine{.scale = 8};  // a softmax of values in [-1, 1] alone would be nearly even
    default:
      return score::Dot{};
  }
}

DecoderLayer make_cell(const ModelConfig& c, const std::string& name, std::int64_t in, Parameters& p) {
  const std::int64_t h = c.dim;
  const std::int64_t gates = c.cell == Cell::gru ? 3 : 4;
  DecoderLayer cell{.input = p.get(name + ".input", {in, gates * h}, Init::xavier),
                    .state = p.get(name + ".state", {h, gates * h}, Init::recurrent),
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
    default:
      return DecoderForm::bahdanau;
  }
}

bool needs_same_width(RnnAttention a) {
  return a == RnnAttention::dot || a == RnnAttention::scaled_dot || a == RnnAttention::cosine;
}

}  // namespace

RnnDecoder::RnnDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& p)
    : embedding_(config.embedding_width()),
      width_(config.dim),
      memory_width_(memory_width),
      form_(config.form),
      attention_(config.attention),
      feeding_(config.input_feeding),
      local_(config.local),
      local_window_(config.local_window),
      coverage_(config.coverage) {
  if (needs_same_width(attention_) && memory_width != width_) {
    project_memory_ = Linear(p, "decoder.memory", memory_width, width_, false);
    memory_width_ = width_;
  }
  const std::int64_t context = attends() ? memory_width_ : memory_width;
  const bool with_context = (!luong() && !conditional()) || !attends();
  const std::int64_t fed = with_context ? context : feeding_ ? width_ : 0;
  weights_.cell = config.cell;
  std::int64_t in = embedding_ + fed;
  for (int i = 0; i < config.decoder_layer_count(); ++i) {
    const std::string name = "decoder." + std::to_string(i);
    weights_.layers.push_back(make_cell(config, name, in, p));
    first_.emplace_back(p, name + ".first", memory_width, width_);
    in = width_;
  }
  if (conditional()) weights_.layers.push_back(make_cell(config, "decoder.second", memory_width_, p));
  if (attends()) {
    weights_.score = make_score(config, memory_width_, p);
    if (local_ == LocalKind::predictive) {
      weights_.center = p.get("decoder.center.weight", {width_, width_}, Init::xavier);
      weights_.center_vector = p.get("decoder.center.vector", {width_}, Init::xavier);
    }
  }
  if (luong() && attends()) {
    weights_.attentional = p.get("decoder.attentional.weight", {memory_width_ + width_, width_}, Init::xavier);
    weights_.attentional_bias = p.get("decoder.attentional.bias", {width_}, Init::zeros);
  } else {
    from_state_ = Linear(p, "decoder.out.state", width_, width_);
    from_context_ = Linear(p, "decoder.out.context", context, width_, false);
    from_input_ = Linear(p, "decoder.out.input", embedding_, width_, false);
  }
  if (first_[0].packed) {  // a model for decoding
    if (attends()) {
      packed_ = packed();
    } else {
      packed_layers_ = packed_layers();
    }
  }
}

AttentionalRnnOptions RnnDecoder::options() const {
  AttentionalRnnOptions how{.form = form_of(form_), .input_feeding = feeding_};
  if (local_ != LocalKind::none) {
    how.local = Local{.half_width = local_window_, .gaussian = local_ == LocalKind::predictive};
  }
  return how;
}

std::shared_ptr<const PackedAttentionalRnn> RnnDecoder::packed() const {
  if (packed_) return packed_;
  return std::make_shared<const PackedAttentionalRnn>(weights_, options(), embedding_, memory_width_);
}

std::shared_ptr<const std::vector<RecurrentStepper>> RnnDecoder::packed_layers() const {
  if (packed_layers_) return packed_layers_;
  auto steppers = std::make_shared<std::vector<RecurrentStepper>>();
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const DecoderLayer& l = weights_.layers[i];
    const Var input = i == 0 ? Var(l.input.value().slice(0, 0, embedding_).contiguous()) : l.input;
    if (weights_.cell == Cell::gru) {
      steppers->emplace_back(GruWeights{input, l.state, l.bias, l.state_bias});
    } else {
      steppers->emplace_back(LstmWeights{input, l.state, l.bias});
    }
  }
  return steppers;
}

RnnDecoder::Start RnnDecoder::begin(const Memory& memory) const {
  Start s;
  s.memory = project_memory_.weight ? project_memory_(memory.states) : memory.states;
  s.summary = memory.summary ? memory.summary : mean_rows(memory.states, memory.lengths);
  for (const Linear& layer : first_) s.states.push_back(layer(s.summary, Activation::tanh));
  return s;
}

Var RnnDecoder::read_out(const Var& states, const Var& contexts, const Var& embedded) const {
  return add(add(from_state_(states), from_context_(contexts)), from_input_(embedded));
}

Decoded RnnDecoder::decode_plain(const Start& start, const Var& embedded, const Tokens& target, Pass& pass) const {
  const DecoderLayer& low = weights_.layers[0];
  const std::int64_t rows = low.input.dim(0);
  RecurrentOptions how{.lengths = target.lengths,
                       .constant = linear(start.summary, slice(low.input, 0, embedding_, rows))};
  Var x = embedded;
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const DecoderLayer& l = weights_.layers[i];
    const Var input = i == 0 ? slice(l.input, 0, 0, embedding_) : l.input;
    x = weights_.cell == Cell::gru ? gru(x, {input, l.state, l.bias, l.state_bias}, how, start.states[i]).states
                                   : lstm(x, {input, l.state, l.bias}, how, start.states[i]).states;
    if (i + 1 < weights_.layers.size()) x = pass.drop(x);
    how.constant = {};
  }
  // The context is the same at every step: its part of the sum is made once per sentence.
  const Var context = from_context_(start.summary);
  Decoded out;
  out.states = pass.drop(add_to_rows(add(from_state_(x), from_input_(embedded)), context));
  return out;
}

Decoded RnnDecoder::decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                           bool want_attention) const {
  const Start s = begin(memory);
  const Var e = pass.drop(embedded);
  if (!attends()) return decode_plain(s, e, target, pass);
  AttentionalRnnOptions how = options();
  how.lengths = target.lengths;
  how.memory_lengths = memory.lengths;
  how.dropout = {pass.dropout.all, pass.dropout.all > 0 ? pass.next_seed() : 0};
  how.want_weights = want_attention;
  const AttentionalRnn run = attentional_rnn(e, s.memory, weights_, how, s.states);
  Decoded out;
  out.states = pass.drop(luong() ? run.attentional : read_out(run.states, run.contexts, e));
  if (want_attention) {
    const Tensor w = run.weights.value();
    out.attention.push_back(w.reshape({w.dim(0), 1, w.dim(1), w.dim(2)}));
  }
  return out;
}

std::unique_ptr<DecoderState> RnnDecoder::start(const Memory& memory, bool want_attention) const {
  const NoGrad quiet;
  if (!attends()) return std::make_unique<PlainRnnState>(*this, memory);
  return std::make_unique<RnnState>(*this, memory, want_attention);
}

}  // namespace fovea
