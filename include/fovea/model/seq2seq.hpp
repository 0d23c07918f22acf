// Source, encoder and generator: tokens in, tokens out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/model/config.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/parameters.hpp"

namespace FOVEA_API fovea {

/// An encoder-decoder. Belongs to one thread at a time; other threads build their own from Parameters::replica().
///
///     Parameters parameters(seed);
///     const Seq2Seq model(config, parameters);
///     const BatchLoss cost = model.loss(source, target, wanted, {.label_smoothing = 0.1F}, pass);
class Seq2Seq {
 public:
  /// Builds the model from the weights in `parameters` and makes missing ones. Throws UsageError for an invalid
  /// configuration.
  Seq2Seq(const ModelConfig& config, Parameters& parameters);
  ~Seq2Seq();
  Seq2Seq(const Seq2Seq&) = delete;
  Seq2Seq& operator=(const Seq2Seq&) = delete;

  /// Its configuration.
  [[nodiscard]] const ModelConfig& config() const { return config_; }
  /// The head.
  [[nodiscard]] const Generator& generator() const { return generator_; }

  /// The source's embeddings, [batch, length, width].
  [[nodiscard]] Var embed(const Tokens& source) const;
  /// encode() of embeddings, which need not be the source's own.
  [[nodiscard]] Memory encode_embedded(const Sequence& embedded, Pass& pass, bool want_attention = false) const {
    return encoder_->encode(embedded, pass, want_attention);
  }
  /// The source as a memory, with the encoder's self-attention when asked for.
  [[nodiscard]] Memory encode(const Tokens& source, Pass& pass, bool want_attention = false) const;
  /// Teacher-forced: `target` starts with <s>; `wanted` [batch * length] are the tokens to predict, 0 where padding.
  [[nodiscard]] BatchLoss loss(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                               const LossOptions& how, Pass& pass) const;
  /// log p of each row's target, summed over its tokens and its end of sequence.
  void score(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
             std::span<double> log_probabilities) const;
  /// The decoder at the start of its output. The stepper does not borrow from `memory`.
  /// `interventions`, or null, must outlive the stepper.
  [[nodiscard]] std::unique_ptr<Stepper> start(const Memory& memory, bool want_attention = false,
                                               const AttentionChoice& which = {},
                                               const Interventions* interventions = nullptr) const;

 private:
  struct TurnParts;
  [[nodiscard]] Memory read(const Tokens& source, Pass& pass, bool want_attention) const;

  ModelConfig config_;
  Embedding source_;
  std::unique_ptr<Encoder> encoder_;
  Generator generator_;
  std::unique_ptr<const TurnParts> turns_;  // of a conversation
};

}  // namespace fovea
