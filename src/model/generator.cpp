#include "fovea/model/generator.hpp"

#include <algorithm>

#include "fovea/ops.hpp"

namespace fovea {

Generator::Generator(const GeneratorConfig& config, std::int64_t memory, Parameters& p, const std::string& shared) {
  const std::string table = config.tie == Tie::all ? shared : "target.embedding";
  const std::int64_t width = config.embedding;
  embedding_ = Embedding(p, table, config.vocabulary, width, config.scaled_embeddings);
  decoder_ = make_decoder(config.decoder, {.embedding = width, .memory = memory}, p);
  if (config.tie != Tie::none) {
    if (decoder_->width() != width) bottleneck_ = Linear(p, "output.bottleneck", decoder_->width(), width);
    output_ = p.matrix(table, {config.vocabulary, width}, Init::embedding, MatrixLayout::out_in);
  } else {
    output_ = p.matrix("output.weight", {config.vocabulary, decoder_->width()}, Init::xavier, MatrixLayout::out_in);
  }
  output_bias_ = p.get("output.bias", {config.vocabulary}, Init::zeros);
}

Var Generator::before_output(const Var& states) const {
  return bottleneck_ ? bottleneck_(states) : states;
}

Decoded Generator::decode(const Memory* memory, const Tokens& target, Pass& pass, const DecoderAttention& want) const {
  const Sequence embedded{embedding_(target.ids, {target.batch, target.length}), target.lengths};
  pass.note("target", "embedding", embedded.values);
  return decoder_->decode(memory, embedded, pass, want);
}

Tensor Generator::logits(const Tensor& states) const {
  const NoGrad quiet;
  return output_.product(before_output(states).value(), output_bias_.value());
}

BatchLoss Generator::loss(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
                          const LossOptions& how, Pass& pass) const {
  const Decoded decoded = decode(memory, target, pass);
  const CrossEntropy cost = linear_cross_entropy(before_output(decoded.states), output_.var, output_bias_, wanted,
                                                 {.label_smoothing = how.label_smoothing, .r_drop = how.r_drop});
  return {cost.loss, cost.tokens, cost.nll, cost.correct};
}

void Generator::score(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
                      std::span<double> log_probabilities, const Interventions* interventions) const {
  const NoGrad quiet;
  Pass pass;
  pass.interventions = interventions;
  const Tensor states = before_output(decode(memory, target, pass).states).value();
  for (std::int64_t b = 0; b < target.batch; ++b) {
    const auto row =
        wanted.subspan(static_cast<std::size_t>(b * target.length), static_cast<std::size_t>(target.length));
    log_probabilities[static_cast<std::size_t>(b)] =
        -linear_cross_entropy(states.select(0, b).contiguous(), output_.var, output_bias_, row, {}).nll;
  }
}

// The decoder's running state with embeddings before and the output layer behind it.
class GeneratorStepper final : public Stepper {
 public:
  GeneratorStepper(const Generator& generator, std::unique_ptr<DecoderState> state, const AttentionChoice& which)
      : generator_(generator), which_(which), state_(std::move(state)) {}

  Tensor step(std::span<const std::int32_t> tokens) override {
    const NoGrad quiet;
    const auto rows = static_cast<std::int64_t>(tokens.size());
    return generator_.logits(state_->step(generator_.embedding_(tokens, {rows}).value()));
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

 private:
  const Generator& generator_;
  AttentionChoice which_;
  std::unique_ptr<DecoderState> state_;
};

std::unique_ptr<Stepper> Generator::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                          const AttentionChoice& which, const Interventions* interventions) const {
  const NoGrad quiet;
  return std::make_unique<GeneratorStepper>(*this, decoder_->start(memory, rows, want_attention, interventions), which);
}

}  // namespace fovea
