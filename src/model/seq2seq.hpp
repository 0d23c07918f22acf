// Encoder, decoder and output layer: tokens in, scores of tokens out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "model/config.hpp"
#include "model/decoder.hpp"
#include "model/encoder.hpp"
#include "model/stepper.hpp"
#include "nn/linear.hpp"
#include "nn/parameters.hpp"

namespace fovea {

/// Which of a decoder's attentions is told: one layer or the mean over all, one head or the mean over all.
struct AttentionChoice {
  int layer = -1;  // -1: all
  int head = -1;
};

/// How a batch is judged in training. With r_drop it holds every pair twice; see CrossEntropyOptions.
struct LossOptions {
  float label_smoothing = 0;
  float r_drop = 0;
};

/// What a batch costs.
struct BatchLoss {
  Var loss;                  // summed over the target's tokens, with label smoothing and R-Drop
  std::int64_t tokens = 0;   // of the target, the ends included
  double nll = 0;            // summed -log p, without smoothing
  std::int64_t correct = 0;  // tokens whose best guess was right
};

/// Belongs to one thread at a time; other threads build their own from Parameters::replica().
class Seq2Seq {
 public:
  /// Builds the model, taking from `parameters` what is there and making what is not. Throws UsageError for a
  /// configuration that cannot be.
  Seq2Seq(const ModelConfig& config, Parameters& parameters);

  [[nodiscard]] const ModelConfig& config() const { return config_; }

  [[nodiscard]] Memory encode(const Tokens& source, Pass& pass) const;
  /// Teacher-forced: `target` starts with <s>; `wanted` [batch * length] are the tokens to predict, 0 where padding.
  [[nodiscard]] BatchLoss loss(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
                               const LossOptions& how, Pass& pass) const;
  /// log p of each row's target, summed over its tokens and the end.
  void score(const Tokens& source, const Tokens& target, std::span<const std::int32_t> wanted,
             std::span<double> log_probabilities) const;
  /// The decoder at the start of its output. `memory` may go; its lengths are copied.
  [[nodiscard]] std::unique_ptr<Stepper> start(const Memory& memory, bool want_attention,
                                               const AttentionChoice& which = {}) const;

 private:
  friend class Seq2SeqStepper;
  [[nodiscard]] Var embed(const Var& table, const Tokens& tokens) const;
  [[nodiscard]] Var before_output(const Var& states) const;  // [.., width] → [.., what the output layer takes]
  [[nodiscard]] Tensor scores(const Tensor& states) const;   // [rows, width] → [rows, vocabulary]

  ModelConfig config_;
  Var source_table_, target_table_;  // [vocabulary, embedding]
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Decoder> decoder_;
  Linear bottleneck_;  // to the width of the tied output, when the decoder's is another
  bool tied_;
  Var output_weight_;  // [vocabulary, width]: the rows are the tokens, as in an embedding
  Var output_bias_;
  std::shared_ptr<const kernels::PackedMatrix> output_packed_;
  float scale_;  // of embeddings
};

}  // namespace fovea
