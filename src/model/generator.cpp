#include "fovea/model/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attention/head_mean.hpp"
#include "fovea/attention/copying.hpp"
#include "fovea/attention/coverage.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/text/tokens.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"
#include "model/attention_losses.hpp"
#include "model/best_rows.hpp"
#include "model/copying_rows.hpp"
#include "model/short_output.hpp"

namespace fovea {

Generator::Generator(const GeneratorConfig& config, std::int64_t memory, Parameters& p, const std::string& shared) {
  const std::string table = config.tie == Tie::all ? shared : "target.embedding";
  const std::int64_t width = config.embedding;
  embedding_ = Embedding(p, table, config.vocabulary, width, {.scaled = config.scaled_embeddings});
  decoder_ = make_decoder(config.decoder, {.embedding = width, .memory = memory}, p);
  if (config.tie != Tie::none) {
    if (decoder_->width() != width) bottleneck_ = Linear(p, "output.bottleneck", decoder_->width(), width);
    output_ = p.matrix(table, {config.vocabulary, width}, Init::embedding, MatrixLayout::out_in);
  } else {
    output_ = p.matrix("output.weight", {config.vocabulary, decoder_->width()}, Init::xavier, MatrixLayout::out_in);
  }
  output_bias_ = p.get("output.bias", {config.vocabulary}, Init::zeros);
  const auto* rnn = std::get_if<RnnDecoderConfig>(&config.decoder);
  if (rnn != nullptr && rnn->attention_kind == Focus::hard) {
    baseline_ = p.get("attention.baseline", {1}, Init::zeros);
  }
  if (!config.copy) return;
  if (memory == 0) throw UsageError("copy", "a language model has no source to copy from");
  gate_ = CopyGate(p, "copy", {.context_dim = memory, .state_dim = decoder_->width(), .input_dim = width});
}

Var Generator::before_output(const Var& states) const {
  return bottleneck_ ? bottleneck_(states) : states;
}

Generator::Run Generator::run(const Memory* memory, const Tokens& target, Pass& pass, DecoderAttention want) const {
  want.copy = want.copy || copies();
  const Var embedded = embedding_(target.ids, {target.batch, target.length});
  pass.note("target", "embedding", embedded);
  return {decoder_->decode(memory, {embedded, target.lengths}, pass, want), embedded};
}

Decoded Generator::decode(const Memory* memory, const Tokens& target, Pass& pass, const DecoderAttention& want) const {
  const Sequence embedded{embedding_(target.ids, {target.batch, target.length}), target.lengths};
  pass.note("target", "embedding", embedded.values);
  return decoder_->decode(memory, embedded, pass, want);
}

Mixture Generator::mixture(const Memory& memory, const Decoded& decoded, const Var& embedded,
                           std::span<const std::int32_t> wanted) const {
  if (memory.copies.empty()) throw UsageError("copy", "Tokens::copies of the source is empty");
  const Var& weights = decoded.copy;
  const Var gate = gate_.logit(decoded.states, embedded, weights, memory.states, memory.lengths);
  return copy_shares(gate, weights, {memory.copies, memory.lengths}, wanted);
}

Tensor Generator::logits(const Tensor& states) const {
  const NoGrad quiet;
  return output_.product(before_output(states).value(), output_bias_.value());
}

BatchLoss Generator::loss(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
                          const LossOptions& how, Pass& pass) const {
  const bool samples = baseline_ && recording({output_bias_});
  const Run at =
      run(memory, target, pass, {.cross = how.doubly_stochastic > 0 || samples, .copy = how.coverage_loss > 0});
  const Var states = before_output(at.decoded.states);
  const CrossEntropyOptions options{.label_smoothing = how.label_smoothing, .r_drop = how.r_drop};
  const CrossEntropy cost =
      copies() ? mixture_cross_entropy(states, output_.var, output_bias_,
                                       mixture(*memory, at.decoded, at.embedded, wanted), wanted, options)
               : linear_cross_entropy(states, output_.var, output_bias_, wanted, options);
  BatchLoss out{cost.loss, cost.tokens, cost.nll, cost.correct};
  if (how.coverage_loss > 0) {
    if (!at.decoded.copy) throw UsageError("coverage_loss", "needs a decoder with attention");
    const Var again = coverage_loss(at.decoded.copy, {.queries = target.lengths, .keys = memory->lengths});
    out.loss = add(out.loss, scale(again, how.coverage_loss));
  }
  if (how.doubly_stochastic > 0 && !at.decoded.cross.empty()) {
    out.loss = add(out.loss, doubly_stochastic_loss(at.decoded.cross, memory->target_lengths(), how.doubly_stochastic));
  }
  if (samples) {
    const Tensor rewards = mean_log_probabilities(at.decoded.states.value(), target, wanted);
    out.loss = add(out.loss, sampled_attention_loss(at.decoded.cross[0], at.decoded.read, rewards, baseline_,
                                                    {.reward = how.reinforce, .entropy = how.attention_entropy}));
  }
  return out;
}

// The reward of sampled attention: the mean log-probability of the target tokens, given the positions that were read.
Tensor Generator::mean_log_probabilities(const Tensor& decoded, const Tokens& target,
                                         std::span<const std::int32_t> wanted) const {
  const NoGrad quiet;
  const Tensor rewards = Tensor::empty({target.batch});
  const Tensor states = before_output(decoded).value();
  for (std::int64_t b = 0; b < target.batch; ++b) {
    const auto row =
        wanted.subspan(static_cast<std::size_t>(b * target.length), static_cast<std::size_t>(target.length));
    const CrossEntropy cost =
        linear_cross_entropy(states.select(0, b).contiguous(), output_.var.value(), output_bias_.value(), row, {});
    rewards.data()[b] = static_cast<float>(-cost.nll / static_cast<double>(std::max<std::int64_t>(1, cost.tokens)));
  }
  return rewards;
}

void Generator::score(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
                      std::span<double> log_probabilities, const Interventions* interventions) const {
  const NoGrad quiet;
  Pass pass;
  pass.interventions = interventions;
  const Run at = run(memory, target, pass, {});
  const Tensor states = before_output(at.decoded.states).value();
  const Mixture mixed = copies() ? mixture(*memory, at.decoded, at.embedded, wanted) : Mixture{};
  if (!copies() && output_.packed && output_.packed->storage() != Storage::f32) {
    return score_rounded(states, wanted, log_probabilities);
  }
  const Var weights = output_.values();
  for (std::int64_t b = 0; b < target.batch; ++b) {
    const auto row =
        wanted.subspan(static_cast<std::size_t>(b * target.length), static_cast<std::size_t>(target.length));
    const Tensor x = states.select(0, b).contiguous();
    const auto part = [&](const Var& of_all) {
      return Var(of_all.value().slice(0, b * target.length, (b + 1) * target.length));
    };
    log_probabilities[static_cast<std::size_t>(b)] =
        copies()
            ? -mixture_cross_entropy(x, weights, output_bias_, {part(mixed.log_share), part(mixed.log_other)}, row).nll
            : -linear_cross_entropy(x, weights, output_bias_, row, {}).nll;
  }
}

void Generator::copied(const Memory& memory, const Tokens& target, std::span<const std::int32_t> wanted,
                       std::span<float> parts, const Interventions* interventions) const {
  const NoGrad quiet;
  Pass pass;
  pass.interventions = interventions;
  const Run at = run(&memory, target, pass, {});
  (void)mixture_cross_entropy(before_output(at.decoded.states), output_.values(), output_bias_,
                              mixture(memory, at.decoded, at.embedded, wanted), wanted, {}, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = wanted[i] == pad_id ? 0.0F : 1 - parts[i];
}

// With the packed output layer, as search uses it.
void Generator::score_rounded(const Tensor& states, std::span<const std::int32_t> wanted,
                              std::span<double> log_probabilities) const {
  const std::int64_t length = states.dim(1);
  for (std::int64_t b = 0; b < states.dim(0); ++b) {
    const Tensor logits = output_.product(states.select(0, b).contiguous(), output_bias_.value());
    kernels::active().rows->log_softmax(logits.data(), logits.data(), length, logits.dim(1));
    double total = 0;
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int32_t token = wanted[static_cast<std::size_t>(b * length + t)];
      if (token != pad_id) total += logits.data()[t * logits.dim(1) + token];
    }
    log_probabilities[static_cast<std::size_t>(b)] = total;
  }
}

// The decoder's running state between the embeddings and the output layer.
class GeneratorStepper final : public Stepper {
 public:
  GeneratorStepper(const Generator& generator, const Memory* memory, std::int64_t rows, bool want_attention,
                   const AttentionChoice& which, const Interventions* interventions)
      : generator_(generator),
        which_(which),
        state_(generator.decoder_->start(memory, rows, want_attention || generator.copies(), interventions)) {
    if (generator.copies()) {
      copying_.emplace(*memory, generator.gate_.memory(memory->states).value(), generator.output_bias_.dim(0));
    }
  }

  Tensor step(std::span<const std::int32_t> tokens) override {
    const NoGrad quiet;
    const auto rows = static_cast<std::int64_t>(tokens.size());
    if (copying_) {
      const Tensor embedded = generator_.embedding_(copying_->fed(tokens), {rows}).value();
      const Tensor states = state_->step(embedded);
      const Tensor gate = generator_.gate_.rest(states, embedded).value();
      return copying_->mixed(generator_.logits(states), gate, state_->attention().back());
    }
    const Tensor states = state_->step(generator_.embedding_(tokens, {rows}).value());
    return short_ ? short_->logits(generator_.before_output(states).value()) : generator_.logits(states);
  }

  bool best(std::span<const std::int32_t> tokens, const BestRequest& request, BestTokens& best) override {
    if (copying_ || short_ || !generator_.output_.packed) return false;
    const NoGrad quiet;
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const Tensor states = state_->step(generator_.embedding_(tokens, {rows}).value());
    const Tensor before = generator_.before_output(states).value().contiguous();
    best_rows_.choose(rows, before.data(), *generator_.output_.packed, generator_.output_bias_.value().data(), request,
                      best);
    return true;
  }

  [[nodiscard]] bool normalized() const override { return copying_.has_value(); }

  void keep(std::span<const std::int32_t> rows) override {
    state_->keep(rows);
    if (copying_) copying_->keep(rows);
    if (short_) short_->keep(rows);
  }

  void restrict_to(std::vector<std::vector<std::int32_t>> candidates) override {
    if (copying_) throw UsageError("shortlist", "not supported by a model that copies words of the source");
    short_.emplace(generator_.output_, generator_.output_bias_.value(), std::move(candidates));
  }
  [[nodiscard]] std::span<const std::int32_t> candidates(std::int64_t row) const override {
    return short_ ? short_->candidates(row) : std::span<const std::int32_t>();
  }

  [[nodiscard]] Tensor attention() const override {
    const auto layers = state_->attention();
    if (layers.empty()) return {};
    const std::int64_t rows = layers[0].dim(0);
    const std::int64_t keys = layers[0].dim(2);
    std::vector<LayerWeights> weights;
    for (const Tensor& layer : layers) weights.push_back({layer.data(), layer.dim(1), keys, layer.dim(1) * keys});
    Tensor mean = Tensor::empty({rows, keys});
    mean_over_heads(weights, which_, rows, keys, mean.data());
    return mean;
  }

 private:
  const Generator& generator_;
  AttentionChoice which_;
  std::unique_ptr<DecoderState> state_;
  std::optional<CopyingRows> copying_;
  std::optional<ShortOutput> short_;
  BestRows best_rows_;
};

std::unique_ptr<Stepper> Generator::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                          const AttentionChoice& which, const Interventions* interventions) const {
  const NoGrad quiet;
  return std::make_unique<GeneratorStepper>(*this, memory, rows, want_attention, which, interventions);
}

}  // namespace fovea
