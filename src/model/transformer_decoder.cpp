#include "model/transformer_decoder.hpp"

#include "fovea/ops.hpp"
#include "model/row_cache.hpp"
#include "model/transformer_encoder.hpp"

namespace fovea {

TransformerDecoder::TransformerDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& p)
    : width_(config.dim),
      norm_(config.norm),
      kind_(config.positions),
      positions_(p, "decoder.positions", added_positions(config.positions), config.max_positions, config.dim) {
  for (int i = 0; i < config.decoder_layer_count(); ++i) {
    const std::string name = "decoder." + std::to_string(i);
    layers_.push_back({LayerNorm(p, name + ".self_norm", width_), LayerNorm(p, name + ".cross_norm", width_),
                       LayerNorm(p, name + ".feed_norm", width_),
                       MultiHeadLayer(p, name + ".self", width_, width_, config.heads, config.divided_scores()),
                       MultiHeadLayer(p, name + ".cross", width_, memory_width, config.heads, config.divided_scores()),
                       FeedForward(p, name + ".feed", width_, config.ffn)});
  }
  if (norm_ == Norm::pre) last_ = LayerNorm(p, "decoder.norm", width_);
}

template <class Self, class Cross>
Var TransformerDecoder::run(Var x, Pass& pass, const Self& self_part, const Cross& cross_part) const {
  if (norm_ == Norm::post) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      x = residual(x, self_part(i, x), layer.self_norm, pass).normed;
      x = residual(x, cross_part(i, x), layer.cross_norm, pass).normed;
      x = residual(x, layer.feed(x, pass), layer.feed_norm, pass).normed;
    }
    return x;
  }
  // Each residual sum is made together with the norm that follows it.
  Var seen = layers_[0].self_norm(x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const ResidualNorm a = residual(x, self_part(i, seen), layer.cross_norm, pass);
    const ResidualNorm b = residual(a.sum, cross_part(i, a.normed), layer.feed_norm, pass);
    const LayerNorm& next = i + 1 < layers_.size() ? layers_[i + 1].self_norm : last_;
    const ResidualNorm c = residual(b.sum, layer.feed(b.normed, pass), next, pass);
    x = c.sum;
    seen = c.normed;
  }
  return seen;
}

// Queries or keys of the look at the source that stand at `first` and on, turned by where they stand, if they are.
Var TransformerDecoder::turned(const Var& x, std::int64_t first, const MultiHeadLayer& layer) const {
  return kind_ == Positions::rotary_cross ? rotary(x, {}, first, layer.heads) : x;
}

Decoded TransformerDecoder::decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                                   bool want_attention) const {
  const MultiHeadLayer::Options self{
      .causal = true, .lengths = target.lengths, .rotary = is_rotary(kind_), .alibi = kind_ == Positions::alibi};
  const MultiHeadLayer::Options cross{.lengths = memory.lengths, .want_weights = want_attention};
  Decoded out;
  out.states = run(
      pass.drop(positions_.add_to(embedded)), pass,
      [&](std::size_t i, const Var& q) { return layers_[i].self(q, q, self, pass).output; },
      [&](std::size_t i, const Var& q) {
        const MultiHeadLayer& layer = layers_[i].cross;
        auto [output, weights] =
            layer.attend_to(turned(layer.query(q), 0, layer), turned(layer.key(memory.states), 0, layer),
                            layer.value(memory.states), cross, pass);
        if (want_attention) out.attention.push_back(weights);
        return output;
      });
  return out;
}

// The keys and values of each layer: of the memory once per sentence, of what was written so far per row.
class TransformerState final : public DecoderState {
 public:
  TransformerState(const TransformerDecoder& decoder, const Memory& memory, bool want_attention)
      : decoder_(decoder), want_attention_(want_attention), sentences_(memory) {
    for (const auto& layer : decoder.layers_) {
      sentences_.add(decoder.turned(layer.cross.key(memory.states), 0, layer.cross).value());
      sentences_.add(layer.cross.value(memory.states).value());
    }
    written_.resize(2 * decoder.layers_.size());
  }

  Tensor step(const Tensor& embedded) override {
    const NoGrad quiet;
    Pass pass;
    const std::int64_t rows = embedded.dim(0);
    const std::int64_t width = decoder_.width_;
    const MultiHeadLayer::Options self{.rotary = is_rotary(decoder_.kind_),
                                       .alibi = decoder_.kind_ == Positions::alibi};
    const MultiHeadLayer::Options cross{.lengths = sentences_.lengths(), .want_weights = want_attention_};
    weights_.clear();
    const Var x = decoder_.run(
        decoder_.positions_.add_to(embedded.reshape({rows, 1, width}), length_), pass,
        [&](std::size_t i, const Var& q) {
          const MultiHeadLayer& layer = decoder_.layers_[i].self;
          const Tensor keys = written_[2 * i].append(layer.key(q).value());
          const Tensor values = written_[2 * i + 1].append(layer.value(q).value());
          return layer.look(q, keys, values, self, pass).output;
        },
        [&](std::size_t i, const Var& q) {
          const MultiHeadLayer& layer = decoder_.layers_[i].cross;
          // The rows of one sentence are so many queries to its memory.
          const auto grouped = reshape(decoder_.turned(layer.query(q), length_, layer),
                                       {sentences_.count(), rows / sentences_.count(), width});
          const auto [output, weights] =
              layer.attend_to(grouped, sentences_.array(2 * i), sentences_.array(2 * i + 1), cross, pass);
          if (want_attention_) {
            weights_.push_back(weights.transpose(1, 2).reshape({rows, layer.heads, weights.dim(3)}));
          }
          return reshape(output, {rows, 1, width});
        });
    ++length_;
    return x.value().reshape({rows, width});
  }

  void keep(std::span<const std::int32_t> rows) override {
    for (RowCache& cache : written_) cache.keep(rows);
    sentences_.keep(rows);
  }

  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  const TransformerDecoder& decoder_;
  bool want_attention_;
  SentenceArrays sentences_;
  std::vector<RowCache> written_;
  std::vector<Tensor> weights_;
  std::int64_t length_ = 0;
};

std::unique_ptr<DecoderState> TransformerDecoder::start(const Memory& memory, bool want_attention) const {
  const NoGrad quiet;
  return std::make_unique<TransformerState>(*this, memory, want_attention);
}

}  // namespace fovea
