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
                       MultiHeadLayer(p, name + ".self", width_, width_, config.heads),
                       MultiHeadLayer(p, name + ".cross", width_, memory_width, config.heads),
                       FeedForward(p, name + ".feed", width_, config.ffn)});
  }
  if (norm_ == Norm::pre) last_ = LayerNorm(p, "decoder.norm", width_);
}

template <class Self, class Cross>
Var TransformerDecoder::run(const Layer& layer, Var x, Pass& pass, const Self& self_part,
                            const Cross& cross_part) const {
  if (norm_ == Norm::pre) {
    x = add(x, pass.drop(self_part(layer.self_norm(x))));
    x = add(x, pass.drop(cross_part(layer.cross_norm(x))));
    return add(x, pass.drop(layer.feed(layer.feed_norm(x), pass)));
  }
  x = layer.self_norm(add(x, pass.drop(self_part(x))));
  x = layer.cross_norm(add(x, pass.drop(cross_part(x))));
  return layer.feed_norm(add(x, pass.drop(layer.feed(x, pass))));
}

Decoded TransformerDecoder::decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                                   bool want_attention) const {
  const MultiHeadLayer::Options self{.causal = true,
                                     .lengths = target.lengths,
                                     .rotary = kind_ == Positions::rotary,
                                     .alibi = kind_ == Positions::alibi};
  const MultiHeadLayer::Options cross{.lengths = memory.lengths, .want_weights = want_attention};
  Decoded out;
  Var x = pass.drop(positions_.add_to(embedded));
  for (const Layer& layer : layers_) {
    x = run(
        layer, x, pass, [&](const Var& q) { return layer.self(q, q, self, pass).output; },
        [&](const Var& q) {
          auto [output, weights] = layer.cross(q, memory.states, cross, pass);
          if (want_attention) out.attention.push_back(weights);
          return output;
        });
  }
  out.states = norm_ == Norm::pre ? last_(x) : x;
  return out;
}

// The keys and values of each layer: of the memory once per sentence, of what was written so far per row.
class TransformerState final : public DecoderState {
 public:
  TransformerState(const TransformerDecoder& decoder, const Memory& memory, bool want_attention)
      : decoder_(decoder), want_attention_(want_attention), sentences_(memory) {
    for (const auto& layer : decoder.layers_) {
      sentences_.add(layer.cross.key(memory.states).value());
      sentences_.add(layer.cross.value(memory.states).value());
    }
    written_.resize(2 * decoder.layers_.size());
  }

  Tensor step(const Tensor& embedded) override {
    const NoGrad quiet;
    Pass pass;
    const std::int64_t rows = embedded.dim(0);
    const std::int64_t width = decoder_.width_;
    const MultiHeadLayer::Options self{.rotary = decoder_.kind_ == Positions::rotary,
                                       .alibi = decoder_.kind_ == Positions::alibi};
    const MultiHeadLayer::Options cross{.lengths = sentences_.lengths(), .want_weights = want_attention_};
    weights_.clear();
    Var x = decoder_.positions_.add_to(embedded.reshape({rows, 1, width}), length_);
    for (std::size_t i = 0; i < decoder_.layers_.size(); ++i) {
      const auto& layer = decoder_.layers_[i];
      x = decoder_.run(
          layer, x, pass,
          [&](const Var& q) {
            const Tensor keys = written_[2 * i].append(layer.self.key(q).value());
            const Tensor values = written_[2 * i + 1].append(layer.self.value(q).value());
            return layer.self.look(q, keys, values, self, pass).output;
          },
          [&](const Var& q) {
            // The rows of one sentence are so many queries to its memory.
            const auto grouped = reshape(q, {sentences_.count(), rows / sentences_.count(), width});
            const auto [output, weights] =
                layer.cross.look(grouped, sentences_.array(2 * i), sentences_.array(2 * i + 1), cross, pass);
            if (want_attention_)
              weights_.push_back(weights.transpose(1, 2).reshape({rows, layer.cross.heads, weights.dim(3)}));
            return reshape(output, {rows, 1, width});
          });
    }
    ++length_;
    if (decoder_.norm_ == Norm::pre) x = decoder_.last_(x);
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
