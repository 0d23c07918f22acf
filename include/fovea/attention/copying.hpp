// Copying from the source while writing (pointer-generator, See et al. 2017), in logarithms: what training and decoding
// need of P(word) = g P_vocabulary(word) + (1 - g) sum over the source positions j that hold the word of w_j. No array
// of target by vocabulary exists, and what is kept is linear in the source's length.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/mixture.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// rest [B, T] + sum_j weights [B, T, S] * values [B, S], over each sequence's first lengths[b] positions; [B, T].
[[nodiscard]] Var add_attended(const Var& rest, const Var& weights, const Var& values,
                               std::span<const std::int64_t> lengths);

/// What copying adds to each target: log g, and log((1 - g) sum of the weights on positions that hold the target), -inf
/// where none does. gate [B, T] is the logit of g, weights [B, T, S], source [B * S] and targets [B * T] ids of one
/// vocabulary; only the first lengths[b] positions of a source count.
///
///     const Mixture copied = copy_shares(gate, weights, source_ids, lengths, targets);
///     const CrossEntropy cost = mixture_cross_entropy(states, output, bias, copied, targets);
[[nodiscard]] Mixture copy_shares(const Var& gate, const Var& weights, std::span<const std::int32_t> source,
                                  std::span<const std::int64_t> lengths, std::span<const std::int32_t> targets);

/// sum over t and j of min(w_tj, c_tj), c_tj = the sum of w_uj over u < t: attending again to the same positions costs
/// (See et al. 2017, eq. 13). weights [B, T, S]; the first target_lengths[b] rows and source_lengths[b] columns count.
[[nodiscard]] Var repeated_attention(const Var& weights, std::span<const std::int64_t> target_lengths,
                                     std::span<const std::int64_t> source_lengths);

/// The mixture of one step over all words, in place: log_probabilities holds log P_vocabulary in its first `vocabulary`
/// values and becomes log P; ids from there on are words that only the source has. gate is the logit of g; weights and
/// source are of the source's positions. `mass` is as long as log_probabilities, all 0, and is left so.
void mix_copied(float gate, std::span<const float> weights, std::span<const std::int32_t> source,
                std::int64_t vocabulary, std::span<float> log_probabilities, std::span<float> mass);

}  // namespace fovea
