#include "model/decoders/cnn_decoder.hpp"

#include <algorithm>
#include <numbers>

#include "fovea/attention/attend.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/sentence_arrays.hpp"
#include "model/encoders/transformer_encoder.hpp"

namespace fovea {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

}  // namespace

CnnDecoder::CnnDecoder(const CnnConfig& config, const DecoderSizes& sizes, Parameters& p, const std::string& name)
    : embedding_(sizes.embedding),
      name_(name),
      kernel_(config.kernel),
      attends_(sizes.memory > 0),
      positions_(p, name + ".positions", PositionEmbedding::Kind::learned, config.max_positions, embedding_),
      in_(p, name + ".in", embedding_, config.dim),
      out_(p, name + ".out", config.dim, embedding_) {
  if (attends_ && sizes.memory != embedding_) memory_ = Linear(p, name + ".memory", sizes.memory, embedding_);
  for (int i = 0; i < config.layers; ++i) {
    const std::string at = name + "." + std::to_string(i);
    Layer layer;
    layer.name = at;
    layer.convolution = GatedConvolution(p, at, config.kernel, config.dim);
    if (attends_) {
      layer.query = Linear(p, at + ".query", config.dim, embedding_);
      layer.context = Linear(p, at + ".context", embedding_, config.dim);
    }
    layers_.push_back(std::move(layer));
  }
}

Var CnnDecoder::keys(const Memory& memory) const {
  return memory_ ? memory_(memory.states) : memory.states;
}

Var CnnDecoder::values(const Memory& memory) const {
  const Var& v = memory.values ? memory.values : memory.states;
  return memory_ ? memory_(v) : v;
}

Var CnnDecoder::attend_in(const Layer& layer, const Var& y, const Var& embedded, const Var& keys, const Var& values,
                          AttendOptions how, Attended& result) const {
  const Var query = scale(add(layer.query(y), embedded), kHalf);
  // Gehring et al. do not divide by the root of the width, but start from embeddings of deviation 0.1. Ours start at 1,
  // where plain dot products saturate the softmax, and for a thousand steps nothing is learned about where to attend.
  how.score = score::ScaledDot{};
  if (how.trace != nullptr) how.want.scores = how.want.weights = true;
  result = attend(query, keys, values, how);
  if (how.trace != nullptr) {
    how.trace->add(layer.name + ".cross.query", query.value());
    how.trace->add(layer.name + ".cross.key", keys.value());
    how.trace->add(layer.name + ".cross.value", values.value());
    how.trace->add(layer.name + ".cross.scores", result.scores);
    how.trace->add(layer.name + ".cross.masked", result.masked);
    how.trace->add(layer.name + ".cross.weights", result.weights.value());
    how.trace->add(layer.name + ".cross.context", result.context.value());
  }
  return scale(add(y, layer.context(result.context)), kHalf);
}

Decoded CnnDecoder::decode(const Memory* memory, const Sequence& target, Pass& pass,
                           const DecoderAttention& want) const {
  const Var e = pass.drop(positions_.add_to(target.values));
  const Var k = attends_ ? memory->for_targets(keys(*memory)) : Var();
  const Var v = attends_ ? memory->for_targets(values(*memory)) : Var();
  pass.note(name_, "embedded", e);
  Decoded out;
  Var x = in_(e);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    pass.note(layer.name, "input", x);
    Var y = layer.convolution(pass.drop(x), {.padding = TimePadding::causal, .lengths = target.lengths});
    pass.note(layer.name, "convolution", y);
    if (attends_) {
      const LayerAttention ask(pass, AttentionKind::cross, static_cast<int>(i), want.cross);
      AttendOptions how{.lengths = memory->target_lengths()};
      ask.ask(how, k.dim(1));
      const bool copies = want.copy && i + 1 == layers_.size();
      how.want.weights = how.want.weights || copies;
      Attended result;
      y = attend_in(layer, y, e, k, v, how, result);
      if (copies) out.copy = result.weights;
      if (how.want.weights) {
        const Var& w = result.weights;
        result.weights = reshape(w, {w.dim(0), 1, w.dim(1), w.dim(2)});
      }
      ask.take(result, out.cross, out.cross_top);
    }
    x = scale(add(y, x), kHalf);
  }
  out.states = pass.drop(out_(x));
  pass.note(name_, "output", out.states);
  return out;
}

// Keeps the last `kernel` inputs of each layer, which are what its next output is made of.
class CnnState final : public DecoderState {
 public:
  CnnState(const CnnDecoder& decoder, const Memory* memory, bool want_attention, const Interventions* interventions)
      : decoder_(decoder),
        want_attention_(want_attention),
        interventions_(interventions),
        sentences_(memory != nullptr ? memory->lengths : std::span<const std::int64_t>()),
        windows_(decoder.layers_.size()) {
    if (!decoder.attends_) return;
    sentences_.add(decoder.keys(*memory).value());
    sentences_.add(decoder.values(*memory).value());
  }

  Tensor step(const Tensor& embedded) override {
    const NoGrad quiet;
    const std::int64_t rows = embedded.dim(0);
    const std::int64_t width = embedded.dim(1);
    const Var e = decoder_.positions_.add_to(embedded.reshape({rows, 1, width}), length_);
    weights_.clear();
    Var x = decoder_.in_(e);
    for (std::size_t i = 0; i < decoder_.layers_.size(); ++i) {
      const auto& layer = decoder_.layers_[i];
      Var y = layer.convolution.step(slide(windows_[i], x.value()));
      if (decoder_.attends_) y = attend_in(i, y, e);
      x = scale(add(reshape(y, {rows, 1, x.dim(2)}), x), kHalf);
    }
    ++length_;
    return decoder_.out_(x).value().reshape({rows, decoder_.embedding_});
  }

  void keep(std::span<const std::int32_t> rows) override {
    for (Tensor& window : windows_) window = take_rows(window, rows);
    if (decoder_.attends_) sentences_.keep(rows);
  }

  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  // The rows of one sentence are so many queries to its memory.
  Var attend_in(std::size_t i, const Var& y, const Var& e) {
    const CnnDecoder::Layer& layer = decoder_.layers_[i];
    const std::int64_t rows = y.dim(0);
    const std::int64_t group = rows / sentences_.count();
    const auto by_sentence = [&](const Var& x) { return reshape(x, {sentences_.count(), group, x.dim(-1)}); };
    Pass pass;
    pass.interventions = interventions_;
    const LayerAttention ask(pass, AttentionKind::cross, static_cast<int>(i), want_attention_, length_);
    AttendOptions how{.lengths = sentences_.lengths()};
    ask.ask(how, sentences_.array(0).dim(1));
    Attended result;
    const Var out = decoder_.attend_in(layer, by_sentence(y), by_sentence(e), sentences_.array(0), sentences_.array(1),
                                       how, result);
    if (want_attention_) {
      const Tensor w = result.weights.value();
      weights_.push_back(w.reshape({rows, 1, w.dim(2)}));
    }
    return out;
  }

  // Moves each row [kernel * width] on by an input; before the first one stand zeros.
  [[nodiscard]] const Tensor& slide(Tensor& window, const Tensor& input) const {
    const std::int64_t rows = input.dim(0);
    const std::int64_t width = input.dim(-1);
    if (!window) window = Tensor::zeros({rows, decoder_.kernel_ * width});
    const Tensor in = input.contiguous();
    for (std::int64_t r = 0; r < rows; ++r) {
      float* row = window.data() + r * window.dim(1);
      std::copy(row + width, row + window.dim(1), row);
      std::copy_n(in.data() + r * width, width, row + window.dim(1) - width);
    }
    return window;
  }

  const CnnDecoder& decoder_;
  bool want_attention_;
  const Interventions* interventions_;
  SentenceArrays sentences_;
  std::vector<Tensor> windows_;  // per layer [rows, kernel * width]
  std::vector<Tensor> weights_;
  std::int64_t length_ = 0;
};

std::unique_ptr<DecoderState> CnnDecoder::start(const Memory* memory, std::int64_t, bool want_attention,
                                                const Interventions* interventions) const {
  const NoGrad quiet;
  return std::make_unique<CnnState>(*this, memory, want_attention, interventions);
}

}  // namespace fovea
