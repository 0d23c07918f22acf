#include "model/decoders/transformer_decoder.hpp"

#include "fovea/attention/cache.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/sentence_arrays.hpp"
#include "model/decoders/transformer_stepper.hpp"
#include "model/encoders/transformer_encoder.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kFirstHead[] = {0};

}  // namespace

TransformerDecoder::TransformerDecoder(const TransformerConfig& config, const DecoderSizes& sizes, Parameters& p,
                                       const std::string& name)
    : config_(config),
      attends_(sizes.memory > 0),
      name_(name),
      positions_(added_positions(config, p, name + ".positions")) {
  const LayerNormOptions epsilon{.epsilon = config.norm_epsilon};
  if (config.embedding_norm) embedding_norm_ = LayerNorm(p, name + ".embedding_norm", config.dim, epsilon);
  for (int i = 0; i < config.layers; ++i) {
    const std::string at = name + "." + std::to_string(i);
    Layer layer;
    layer.name = at;
    layer.self_norm = LayerNorm(p, at + ".self_norm", config.dim, epsilon);
    if (attends_) layer.cross_norm = LayerNorm(p, at + ".cross_norm", config.dim, epsilon);
    layer.feed_norm = LayerNorm(p, at + ".feed_norm", config.dim, epsilon);
    switch (config.decoder_self) {
      case DecoderSelf::attention:
        layer.self = MultiHead(p, at + ".self", head_options(config));
        break;
      case DecoderSelf::ssru:
        layer.ssru = Ssru(p, at + ".ssru", config.dim);
        break;
      case DecoderSelf::average:
        layer.average = AverageAttention(
            p, at + ".average",
            {.dim = config.dim, .inner = config.ffn, .activation = config.activation, .bias = config.bias});
        layer.average.feed.approximate_gelu = config.approximate_gelu;
        break;
    }
    if (attends_) layer.cross = MultiHead(p, at + ".cross", head_options(config, sizes.memory));
    layer.feed =
        FeedForward(p, at + ".feed", config.dim, config.ffn, {.activation = config.activation, .bias = config.bias});
    layer.feed.approximate_gelu = config.approximate_gelu;
    layers_.push_back(std::move(layer));
  }
  if (config.norm == Norm::pre) last_ = LayerNorm(p, name + ".norm", config.dim, epsilon);
}

// What a part of a layer left: the residual sum and its norm.
void TransformerDecoder::note(const Pass& pass, const Layer& layer, const char* part, const ResidualNorm& made) {
  if (pass.trace == nullptr) return;
  pass.note(layer.name + "." + part, "sum", made.sum);
  pass.note(layer.name + "." + part, "norm", made.normed);
}

template <class Self, class Cross>
Var TransformerDecoder::run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const {
  if (config_.norm == Norm::post) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      ResidualNorm a = layer.self_norm.residual(x, self_part(i, x), pass);
      note(pass, layer, "self", a);
      if (attends_) {
        a = layer.cross_norm.residual(a.normed, cross_part(i, a.normed), pass);
        note(pass, layer, "cross", a);
      }
      const ResidualNorm b = layer.feed_norm.residual(a.normed, layer.feed(a.normed, pass), pass);
      note(pass, layer, "feed", b);
      x = b.normed;
    }
    return x;
  }
  // Each residual sum is made together with the norm that follows it.
  Var normed = layers_[0].self_norm(x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    ResidualNorm a = (attends_ ? layer.cross_norm : layer.feed_norm).residual(x, self_part(i, normed), pass);
    note(pass, layer, "self", a);
    if (attends_) {
      a = layer.feed_norm.residual(a.sum, cross_part(i, a.normed), pass);
      note(pass, layer, "cross", a);
    }
    const LayerNorm& next = i + 1 < layers_.size() ? layers_[i + 1].self_norm : last_;
    const ResidualNorm b = next.residual(a.sum, layer.feed(a.normed, pass), pass);
    note(pass, layer, "feed", b);
    x = b.sum;
    normed = b.normed;
  }
  return normed;
}

Var TransformerDecoder::placed(const Var& x, std::int64_t first) const {
  const Var sum = positions_.add_to(x, first);
  return config_.embedding_norm ? embedding_norm_(sum) : sum;
}

Var TransformerDecoder::turned(const Var& x, std::int64_t first) const {
  return config_.positions == Positions::rotary_cross ? rotary(x, {}, first, config_.heads) : x;
}

Decoded TransformerDecoder::decode(const Memory* memory, const Sequence& target, Pass& pass,
                                   const DecoderAttention& want) const {
  AttendOptions self = self_attention(config_);
  self.causal = true;
  self.lengths = target.lengths;
  AttendOptions cross;
  if (attends_) cross.lengths = memory->target_lengths();
  Decoded out;
  const Var embedded = pass.drop(placed(target.values, 0));
  pass.note(name_, "embedded", embedded);
  out.states = run(
      embedded, pass,
      [&](std::size_t i, const Var& x) {
        pass.note(layers_[i].name, "self.input", x);
        if (config_.decoder_self == DecoderSelf::ssru) return layers_[i].ssru(x);
        if (config_.decoder_self == DecoderSelf::average) return layers_[i].average(x, pass);
        const LayerAttention ask(pass, AttentionKind::decoder, static_cast<int>(i), want.self);
        ask.ask(self, x.dim(1));
        self.dropout = pass.next(pass.rates.attention);
        const Attended result = layers_[i].self(x, x, self);
        ask.take(result, out.self, out.self_top);
        return result.context;
      },
      [&](std::size_t i, const Var& x) {
        const MultiHead& layer = layers_[i].cross;
        const Var queries = turned(layer.query(x), 0);
        const MultiHead::KeysValues read{memory->for_targets(turned(layer.key(memory->states), 0)),
                                         memory->for_targets(layer.value(memory->states))};
        const LayerAttention ask(pass, AttentionKind::cross, static_cast<int>(i), want.cross);
        ask.ask(cross, memory->states.dim(1));
        cross.dropout = pass.next(pass.rates.attention);
        pass.note(layers_[i].name, "cross.input", x);
        const bool copies = want.copy && i + 1 == layers_.size();
        AttendOptions how = cross;
        how.want.weights = how.want.weights || copies;
        if (!want.cross && copies) how.want.heads = kFirstHead;
        const Attended result = layer.attend_projected(queries, read, how);
        if (copies) out.copy = select(result.weights, 1, 0);
        ask.take(result, out.cross, out.cross_top);
        return result.context;
      });
  pass.note(name_, "output", out.states);
  return out;
}

// The keys and values of each layer: of the memory once per sentence, of the target so far per row.
class TransformerState final : public DecoderState {
 public:
  TransformerState(const TransformerDecoder& decoder, const Memory* memory, std::int64_t rows, bool want_attention,
                   const Interventions* interventions)
      : decoder_(decoder),
        want_attention_(want_attention),
        interventions_(interventions),
        sentences_(memory != nullptr ? memory->lengths : std::span<const std::int64_t>()),
        target_(decoder.layers_.size()) {
    if (!decoder.self_attends()) {
      for (std::size_t i = 0; i < decoder.layers_.size(); ++i) {
        past_.push_back(Tensor::zeros({rows, decoder.config_.dim}));
      }
    }
    if (!decoder.attends_) return;
    for (const auto& layer : decoder.layers_) {
      sentences_.add(decoder.turned(layer.cross.key(memory->states), 0).value());
      sentences_.add(layer.cross.value(memory->states).value());
    }
  }

  Tensor step(const Tensor& embedded) override {
    const NoGrad quiet;
    Pass pass;
    pass.interventions = interventions_;
    const std::int64_t rows = embedded.dim(0);
    const std::int64_t width = decoder_.config_.dim;
    AttendOptions self = self_attention(decoder_.config_);
    AttendOptions cross;
    cross.lengths = sentences_.lengths();
    weights_.clear();
    const Var x = decoder_.run(
        decoder_.placed(embedded.reshape({rows, 1, width}), length_), pass,
        [&](std::size_t i, const Var& q) {
          if (!past_.empty()) return self_without_attention(i, q);
          const MultiHead& layer = decoder_.layers_[i].self;
          target_[i].append(layer.key(q).value(), layer.value(q).value());
          const LayerAttention ask(pass, AttentionKind::decoder, static_cast<int>(i), false, length_);
          ask.ask(self, length_ + 1);
          return layer.attend(q, {target_[i].keys(), target_[i].values()}, self).context;
        },
        [&](std::size_t i, const Var& q) {
          const MultiHead& layer = decoder_.layers_[i].cross;
          // The rows of one sentence are so many queries to its memory.
          const auto grouped =
              reshape(decoder_.turned(layer.query(q), length_), {sentences_.count(), rows / sentences_.count(), width});
          const LayerAttention ask(pass, AttentionKind::cross, static_cast<int>(i), want_attention_, length_);
          ask.ask(cross, sentences_.array(2 * i).dim(1));
          const Attended result =
              layer.attend_projected(grouped, {sentences_.array(2 * i), sentences_.array(2 * i + 1)}, cross);
          if (want_attention_) {
            const Tensor w = result.weights.value();  // [sentences, heads, rows of each, source length]
            weights_.push_back(w.transpose(1, 2).reshape({rows, layer.heads, w.dim(3)}));
          }
          return reshape(result.context, {rows, 1, width});
        });
    ++length_;
    return x.value().reshape({rows, width});
  }

  void keep(std::span<const std::int32_t> rows) override {
    for (Tensor& past : past_) past = take_rows(past, rows);
    for (KeyValueCache& cache : target_) {
      if (past_.empty()) cache.keep(rows);
    }
    if (decoder_.attends_) sentences_.keep(rows);
  }

  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  [[nodiscard]] Var self_without_attention(std::size_t i, const Var& x) {
    const TransformerDecoder::Layer& layer = decoder_.layers_[i];
    const Tensor rows = x.value().reshape({x.dim(0), x.dim(2)});
    const Tensor y = decoder_.config_.decoder_self == DecoderSelf::ssru
                         ? layer.ssru.step(rows, past_[i])
                         : layer.average.step(rows, past_[i], length_ + 1);
    return y.reshape(x.shape());
  }

  const TransformerDecoder& decoder_;
  bool want_attention_;
  const Interventions* interventions_;
  SentenceArrays sentences_;
  std::vector<KeyValueCache> target_;
  std::vector<Tensor> past_;  // in place of it, per layer [rows, width]: SSRU's cells, or sums of what is averaged
  std::vector<Tensor> weights_;
  std::int64_t length_ = 0;
};

std::unique_ptr<DecoderState> TransformerDecoder::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                        const Interventions* interventions) const {
  const NoGrad quiet;
  if (interventions == nullptr && TransformerStepper::can_run(config_)) {
    return std::make_unique<TransformerStepper>(*this, memory, rows, want_attention);
  }
  return std::make_unique<TransformerState>(*this, memory, rows, want_attention, interventions);
}

}  // namespace fovea
