// Copying from the source while writing (pointer-generator, See et al. 2017): P(word) = g P_vocabulary(word) + (1 - g)
// times the sum of the attention weights w_j of the source positions j that hold the word. copy_mixture() computes all
// probabilities; models use the other functions, in logarithms, which need memory linear in the source's length.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/mixture.hpp"
#include "fovea/nn/linear.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Sizes of CopyGate.
struct CopyGateOptions {
  std::int64_t context_dim = 0, state_dim = 0, input_dim = 0;  // widths of its three inputs
};

/// The gate of the mixture: g = sigmoid(context . w_c + state . w_s + input . w_x + b)  (See et al. 2017, eq. 8). The
/// context is a weighted sum of memory rows, so context . w_c is the same sum of the numbers that memory() gives.
struct CopyGate {
  CopyGate() = default;
  /// The maps NAME.state, which has the bias, NAME.input and NAME.memory.
  CopyGate(Parameters& p, const std::string& name, const CopyGateOptions& options);

  /// Whether it has weights.
  explicit operator bool() const { return static_cast<bool>(state); }
  /// [B, T, d] each, to g [B, T].
  [[nodiscard]] Var operator()(const Var& context, const Var& states, const Var& inputs) const;
  /// The logit of g without the context: [.., d] each, to [.., 1].
  [[nodiscard]] Var rest(const Var& states, const Var& inputs) const;
  /// The logit of g [B, T]: states and inputs [B, T, d] with weights [B, T, S] over a memory [B, S, d]. Rows from
  /// lengths[b] on are padding.
  [[nodiscard]] Var logit(const Var& states, const Var& inputs, const Var& weights, const Var& rows,
                          std::span<const std::int64_t> lengths) const;

  Linear state{}, input{}, memory{};  // each to one number
};

/// The words of the sources of a batch as ids of one vocabulary, in which words that only a source has follow.
struct CopySource {
  std::span<const std::int32_t> ids{};      // [B * S]; a negative one is no word
  std::span<const std::int64_t> lengths{};  // [B]; empty: all positions count
};

/// The mixture of probabilities: vocabulary [B, T, V], gate g [B, T], weights w [B, T, S]; gives [B, T, size]. Ids are
/// below `size`; those from V on are words that only the source has.
[[nodiscard]] Var copy_mixture(const Var& vocabulary, const Var& gate, const Var& weights, const CopySource& source,
                               std::int64_t size);

/// rest [B, T] + sum_j weights [B, T, S] * values [B, S], over each sequence's first lengths[b] positions; [B, T].
[[nodiscard]] Var add_attended(const Var& rest, const Var& weights, const Var& values,
                               std::span<const std::int64_t> lengths);

/// What copying adds to each target: log g, and log((1 - g) sum of the weights on positions that hold the target), -inf
/// where none does. gate [B, T] is the logit of g, weights [B, T, S], targets [B * T].
///
///     const Mixture copied = copy_shares(gate.logit(states, inputs, weights, memory, lengths), weights, source,
///     targets); const CrossEntropy cost = mixture_cross_entropy(states, output, bias, copied, targets);
[[nodiscard]] Mixture copy_shares(const Var& gate, const Var& weights, const CopySource& source,
                                  std::span<const std::int32_t> targets);

/// The mixture of one step over all words, in place: log_probabilities holds log P_vocabulary in its first `vocabulary`
/// values and becomes log P; ids from there on are words that only the source has. gate is the logit of g; weights and
/// source are of the source's positions. `mass` is as long as log_probabilities, all 0, and all 0 again afterwards.
void mix_copied(float gate, std::span<const float> weights, std::span<const std::int32_t> source,
                std::int64_t vocabulary, std::span<float> log_probabilities, std::span<float> mass);

}  // namespace fovea
