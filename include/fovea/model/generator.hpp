// The head that generates tokens: target embedding, decoder and output layer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/attention/copying.hpp"
#include "fovea/attention/kind.hpp"
#include "fovea/mixture.hpp"
#include "fovea/model/config.hpp"
#include "fovea/model/decoder.hpp"
#include "fovea/model/loss.hpp"
#include "fovea/model/stepper.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/linear.hpp"

namespace FOVEA_API fovea {

/// Generates tokens from a memory, or without one (a language model).
class Generator {
 public:
  /// `memory`: the width of the memory, 0 for none. `shared` is the name of the table that embeds the source, used with
  /// Tie::all.
  Generator(const GeneratorConfig& config, std::int64_t memory, Parameters& parameters,
            const std::string& shared = "embedding");

  /// Whether words of the source can be copied. Then ids from the vocabulary's size on are words of a source
  /// (Tokens::copies): targets and outputs of the stepper, but never inputs; and memories have their `copies`.
  [[nodiscard]] bool copies() const { return static_cast<bool>(gate_); }

  /// Teacher-forced: `target` starts with <s>.
  [[nodiscard]] Decoded decode(const Memory* memory, const Tokens& target, Pass& pass,
                               const DecoderAttention& want = {}) const;
  /// States [.., width] to logits [.., vocabulary], without a gradient.
  [[nodiscard]] Tensor logits(const Tensor& states) const;
  /// `wanted` [batch * length] are the tokens to predict, 0 where padding.
  [[nodiscard]] BatchLoss loss(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
                               const LossOptions& how, Pass& pass) const;
  /// log p of each row's target, summed over its tokens and its end of sequence.
  void score(const Memory* memory, const Tokens& target, std::span<const std::int32_t> wanted,
             std::span<double> log_probabilities, const Interventions* interventions = nullptr) const;
  /// Of a model that copies: the part of each wanted token's probability that is due to copying, 0 where padding.
  void copied(const Memory& memory, const Tokens& target, std::span<const std::int32_t> wanted, std::span<float> parts,
              const Interventions* interventions = nullptr) const;
  /// The decoder at the start of `rows` outputs. `memory` may go; what is needed of it is kept.
  /// `interventions`, or null, must outlive the stepper.
  [[nodiscard]] std::unique_ptr<Stepper> start(const Memory* memory, std::int64_t rows, bool want_attention,
                                               const AttentionChoice& which = {},
                                               const Interventions* interventions = nullptr) const;

 private:
  friend class GeneratorStepper;
  void score_rounded(const Tensor& states, std::span<const std::int32_t> wanted,
                     std::span<double> log_probabilities) const;
  [[nodiscard]] Var before_output(const Var& states) const;  // [.., width] to [.., what the output layer takes]
  // How likely each wanted token is to be copied.
  [[nodiscard]] Mixture mixture(const Memory& memory, const Decoded& decoded, const Var& embedded,
                                std::span<const std::int32_t> wanted) const;
  struct Run {
    Decoded decoded;
    Var embedded;
  };
  [[nodiscard]] Run run(const Memory* memory, const Tokens& target, Pass& pass, DecoderAttention want) const;

  [[nodiscard]] Tensor mean_log_probabilities(const Tensor& decoded, const Tokens& target,
                                              std::span<const std::int32_t> wanted) const;  // [batch]

  Embedding embedding_;
  std::unique_ptr<Decoder> decoder_;
  Linear bottleneck_;  // to the width of the tied output, when the decoder's is another
  Weight output_;      // [vocabulary, width]: the rows are the tokens, as in an embedding
  Var output_bias_;
  CopyGate gate_;  // only where words are copied
  Var baseline_;   // of hard attention: what a reward is compared with; follows their mean
};

}  // namespace fovea
