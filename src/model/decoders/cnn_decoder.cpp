#include "model/decoders/cnn_decoder.hpp"

#include "fovea/attention/attend.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/cnn_stepper.hpp"
#include "model/layer_attention.hpp"

namespace fovea {

CnnDecoder::CnnDecoder(const CnnConfig& config, const DecoderSizes& sizes, Parameters& p, const std::string& name)
    : embedding_(sizes.embedding),
      name_(name),
      kernel_(config.kernel),
      attends_(sizes.memory > 0),
      positions_(p, name + ".positions",
                 {.kind = PositionEmbedding::Kind::learned, .width = embedding_, .max_length = config.max_positions}),
      in_(p, name + ".in", embedding_, config.dim),
      out_(p, name + ".out", config.dim, embedding_) {
  if (attends_ && sizes.memory != embedding_) memory_ = Linear(p, name + ".memory", sizes.memory, embedding_);
  for (int i = 0; i < config.layers; ++i) {
    const std::string at = name + "." + std::to_string(i);
    Layer layer;
    layer.name = at;
    layer.convolution = GatedConvolution(p, at, config.dim, {.kernel = config.kernel});
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
  const AttentionReport report{AttentionKind::cross, want.cross, out.cross, out.cross_top};
  Var x = in_(e);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    pass.note(layer.name, "input", x);
    Var y = layer.convolution(pass.drop(x), {.padding = TimePadding::causal, .lengths = target.lengths});
    pass.note(layer.name, "convolution", y);
    if (attends_) {
      const LayerAttention ask(pass, report, static_cast<int>(i));
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
      ask.take(result);
    }
    x = scale(add(y, x), kHalf);
  }
  out.states = pass.drop(out_(x));
  pass.note(name_, "output", out.states);
  return out;
}

std::unique_ptr<DecoderState> CnnDecoder::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                const Interventions* interventions) const {
  const NoGrad quiet;
  return std::make_unique<CnnStepper>(*this, memory, rows, want_attention, interventions);
}

}  // namespace fovea
