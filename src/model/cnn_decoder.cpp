#include "model/cnn_decoder.hpp"

#include <algorithm>
#include <numbers>

#include "fovea/attention.hpp"
#include "fovea/ops.hpp"
#include "model/row_cache.hpp"

namespace fovea {
namespace {

constexpr float kHalf = std::numbers::sqrt2_v<float> / 2;  // keeps the variance of a sum of two

}  // namespace

CnnDecoder::CnnDecoder(const ModelConfig& config, std::int64_t memory_width, Parameters& p)
    : embedding_(config.embedding_width()),
      kernel_(config.kernel),
      positions_(p, "decoder.positions", PositionEmbedding::Kind::learned, config.max_positions, embedding_),
      in_(p, "decoder.in", embedding_, config.dim),
      out_(p, "decoder.out", config.dim, embedding_) {
  if (memory_width != embedding_) memory_ = Linear(p, "decoder.memory", memory_width, embedding_);
  for (int i = 0; i < config.decoder_layer_count(); ++i) {
    const std::string name = "decoder." + std::to_string(i);
    layers_.push_back({GatedConvolution(p, name, config.kernel, config.dim),
                       Linear(p, name + ".query", config.dim, embedding_),
                       Linear(p, name + ".context", embedding_, config.dim)});
  }
}

Var CnnDecoder::keys(const Memory& memory) const {
  return memory_.weight ? memory_(memory.states) : memory.states;
}

Var CnnDecoder::values(const Memory& memory) const {
  const Var& v = memory.values ? memory.values : memory.states;
  return memory_.weight ? memory_(v) : v;
}

Var CnnDecoder::look(const Layer& layer, const Var& y, const Var& embedded, const Var& keys, const Var& values,
                     std::span<const std::int64_t> lengths, Tensor* weights) const {
  const Var query = scale(add(layer.query(y), embedded), kHalf);
  // Gehring et al. do not divide by the root of the width, but start from embeddings of deviation 0.1. Ours start at 1,
  // where plain dot products saturate the softmax, and for a thousand steps nothing is learned about where to look.
  AttendOptions how{.score = score::ScaledDot{}, .lengths = lengths};
  how.want.weights = weights != nullptr;
  const Attended seen = attend(query, keys, values, how);
  if (weights != nullptr) *weights = seen.weights.value();  // [batch, queries, keys]
  return scale(add(y, layer.context(seen.context)), kHalf);
}

Decoded CnnDecoder::decode(const Memory& memory, const Var& embedded, const Tokens& target, Pass& pass,
                           bool want_attention) const {
  const Var e = pass.drop(positions_.add_to(embedded));
  const Var k = keys(memory);
  const Var v = values(memory);
  Decoded out;
  Var x = in_(e);
  for (const Layer& layer : layers_) {
    const Var y = layer.convolution(pass.drop(x), {.padding = TimePadding::causal, .lengths = target.lengths});
    Tensor weights;
    x = scale(add(look(layer, y, e, k, v, memory.lengths, want_attention ? &weights : nullptr), x), kHalf);
    if (want_attention) {
      out.attention.push_back(weights.reshape({weights.dim(0), 1, weights.dim(1), weights.dim(2)}));
    }
  }
  out.states = pass.drop(out_(x));
  return out;
}

// Keeps the last `kernel` inputs of each layer, which are what its next output is made of.
class CnnState final : public DecoderState {
 public:
  CnnState(const CnnDecoder& decoder, const Memory& memory, bool want_attention)
      : decoder_(decoder), want_attention_(want_attention), sentences_(memory), windows_(decoder.layers_.size()) {
    sentences_.add(decoder.keys(memory).value());
    sentences_.add(decoder.values(memory).value());
  }

  Tensor step(const Tensor& embedded) override {
    const NoGrad quiet;
    const std::int64_t rows = embedded.dim(0);
    const std::int64_t width = embedded.dim(1);
    const Var e = decoder_.positions_.add_to(embedded.reshape({rows, 1, width}), length_);
    const std::int64_t group = rows / sentences_.count();
    const auto by_sentence = [&](const Var& x) { return reshape(x, {sentences_.count(), group, x.dim(-1)}); };
    weights_.clear();
    Var x = decoder_.in_(e);
    for (std::size_t i = 0; i < decoder_.layers_.size(); ++i) {
      const auto& layer = decoder_.layers_[i];
      const Var y = layer.convolution.step(slide(windows_[i], x.value()));
      Tensor weights;
      const Var seen = decoder_.look(layer, by_sentence(y), by_sentence(e), sentences_.array(0), sentences_.array(1),
                                     sentences_.lengths(), want_attention_ ? &weights : nullptr);
      x = scale(add(reshape(seen, {rows, 1, x.dim(2)}), x), kHalf);
      if (want_attention_) weights_.push_back(weights.reshape({rows, 1, weights.dim(2)}));
    }
    ++length_;
    return decoder_.out_(x).value().reshape({rows, decoder_.embedding_});
  }

  void keep(std::span<const std::int32_t> rows) override {
    for (Tensor& window : windows_) window = take_rows(window, rows);
    sentences_.keep(rows);
  }

  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
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
  SentenceArrays sentences_;
  std::vector<Tensor> windows_;  // per layer [rows, kernel * width]
  std::vector<Tensor> weights_;
  std::int64_t length_ = 0;
};

std::unique_ptr<DecoderState> CnnDecoder::start(const Memory& memory, bool want_attention) const {
  const NoGrad quiet;
  return std::make_unique<CnnState>(*this, memory, want_attention);
}

}  // namespace fovea
