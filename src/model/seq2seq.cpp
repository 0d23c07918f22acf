#include "model/seq2seq.hpp"

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/gemm.hpp"
#include "model/cnn_decoder.hpp"
#include "model/cnn_encoder.hpp"
#include "model/rnn_decoder.hpp"
#include "model/rnn_encoder.hpp"
#include "model/transformer_decoder.hpp"
#include "model/transformer_encoder.hpp"

namespace fovea {

std::unique_ptr<Encoder> make_encoder(const ModelConfig& config, Parameters& parameters) {
  switch (config.encoder) {
    case Arch::rnn:
      return std::make_unique<RnnEncoder>(config, parameters);
    case Arch::cnn:
      return std::make_unique<CnnEncoder>(config, parameters);
    case Arch::transformer:
      return std::make_unique<TransformerEncoder>(config, parameters);
  }
  throw Error("encoder: unknown kind");
}

std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, std::int64_t memory_width, Parameters& parameters) {
  switch (config.decoder) {
    case Arch::rnn:
      return std::make_unique<RnnDecoder>(config, memory_width, parameters);
    case Arch::cnn:
      return std::make_unique<CnnDecoder>(config, memory_width, parameters);
    case Arch::transformer:
      return std::make_unique<TransformerDecoder>(config, memory_width, parameters);
  }
  throw Error("decoder: unknown kind");
}

Seq2Seq::Seq2Seq(const ModelConfig& config, Parameters& p) : config_(config), tied_(config.tie != Tie::none) {
  config_.check();
  const std::int64_t width = config_.embedding_width();
  const char* source_name = config_.tie == Tie::all ? "embedding" : "source.embedding";
  const char* target_name = config_.tie == Tie::all ? "embedding" : "target.embedding";
  source_table_ = p.get(source_name, {config_.source_vocabulary, width}, Init::embedding);
  target_table_ = p.get(target_name, {config_.target_vocabulary, width}, Init::embedding);
  encoder_ = make_encoder(config_, p);
  decoder_ = make_decoder(config_, encoder_->width(), p);
  if (tied_) {
    if (decoder_->width() != width) bottleneck_ = Linear(p, "output.bottleneck", decoder_->width(), width);
    output_weight_ = target_table_;
    output_packed_ = p.packed(target_name);
  } else {
    output_weight_ = p.get("output.weight", {config_.target_vocabulary, decoder_->width()}, Init::xavier);
    output_packed_ = p.packed("output.weight");
  }
  output_bias_ = p.get("output.bias", {config_.target_vocabulary}, Init::zeros);
  // Embeddings start with deviation 1 / sqrt(width), which suits the output layer they may be tied to. Everything else
  // wants them at 1: positions are as large, and what an RNN's gates see of anything smaller is next to nothing.
  scale_ = config_.scaled_embeddings ? std::sqrt(static_cast<float>(width)) : 1.0F;
}

Var Seq2Seq::embed(const Var& table, const Tokens& tokens) const {
  return embedding(table, tokens.ids, {tokens.batch, tokens.length}, scale_);
}

Var Seq2Seq::before_output(const Var& states) const {
  return bottleneck_.weight ? bottleneck_(states) : states;
}

Memory Seq2Seq::encode(const Tokens& source, Pass& pass) const {
  return encoder_->encode(embed(source_table_, source), source, pass);
}

BatchLoss Seq2Seq::loss(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                        const LossOptions& how, Pass& pass) const {
  const Memory memory = encode(source, pass);
  const Decoded decoded = decoder_->decode(memory, embed(target_table_, target), target, pass, false);
  const CrossEntropy cost = linear_cross_entropy(before_output(decoded.states), output_weight_, output_bias_, wanted,
                                                 {.label_smoothing = how.label_smoothing, .r_drop = how.r_drop});
  return {cost.loss, cost.tokens, cost.nll, cost.correct};
}

void Seq2Seq::score(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                    std::span<double> log_probabilities) const {
  const NoGrad quiet;
  Pass pass;
  const Memory memory = encode(source, pass);
  const Decoded decoded = decoder_->decode(memory, embed(target_table_, target), target, pass, false);
  const Tensor states = before_output(decoded.states).value();
  for (std::int64_t b = 0; b < target.batch; ++b) {
    const auto row =
        wanted.subspan(static_cast<std::size_t>(b * target.length), static_cast<std::size_t>(target.length));
    log_probabilities[static_cast<std::size_t>(b)] =
        -linear_cross_entropy(states.select(0, b).contiguous(), output_weight_, output_bias_, row, {}).nll;
  }
}

Tensor Seq2Seq::scores(const Tensor& states) const {
  const Tensor h = before_output(states).value();
  if (output_packed_) return apply_packed(h, *output_packed_, output_bias_.value());
  Tensor out = Tensor::empty({h.dim(0), config_.target_vocabulary});
  kernels::parallel_gemm(kernels::Trans::no, kernels::Trans::yes, h.dim(0), out.dim(1), h.dim(1), h.data(), h.dim(1),
                         output_weight_.value().data(), h.dim(1), 0.0F, out.data(), out.dim(1),
                         {.bias = output_bias_.value().data()});
  return out;
}

// The decoder's running state with embeddings before and the output layer behind it.
class Seq2SeqStepper final : public Stepper {
 public:
  Seq2SeqStepper(const Seq2Seq& model, const Memory& memory, bool want_attention, const AttentionChoice& which)
      : model_(model), which_(which), state_(model.decoder_->start(memory, want_attention)) {}

  Tensor step(std::span<const std::int32_t> tokens) override {
    const NoGrad quiet;
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const Var embedded = embedding(model_.target_table_, tokens, {rows}, model_.scale_);
    return model_.scores(state_->step(embedded.value()));
  }

  void keep(std::span<const std::int32_t> rows) override { state_->keep(rows); }

  [[nodiscard]] Tensor attention() const override {
    const auto layers = state_->attention();
    if (layers.empty()) return {};
    const std::int64_t rows = layers[0].dim(0);
    const std::int64_t keys = layers[0].dim(2);
    Tensor mean = Tensor::zeros({rows, keys});
    double count = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (which_.layer >= 0 && which_.layer != static_cast<int>(l)) continue;
      for (std::int64_t h = 0; h < layers[l].dim(1); ++h) {
        if (which_.head >= 0 && which_.head != h) continue;
        count += 1;
        for (std::int64_t r = 0; r < rows; ++r) {
          const float* in = layers[l].data() + (r * layers[l].dim(1) + h) * keys;
          float* out = mean.data() + r * keys;
          for (std::int64_t k = 0; k < keys; ++k) out[k] += in[k];
        }
      }
    }
    for (float& v : mean.values()) v = static_cast<float>(v / std::max(1.0, count));
    return mean;
  }

  [[nodiscard]] std::span<const Tensor> layer_attention() const override { return state_->attention(); }

 private:
  const Seq2Seq& model_;
  AttentionChoice which_;
  std::unique_ptr<DecoderState> state_;
};

std::unique_ptr<Stepper> Seq2Seq::start(const Memory& memory, bool want_attention, const AttentionChoice& which) const {
  return std::make_unique<Seq2SeqStepper>(*this, memory, want_attention, which);
}

}  // namespace fovea
