// Losses on the attention of a decoder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/var.hpp"

namespace fovea {

/// weight times the sum, over targets and the first lengths[b] places of the source, of (1 - the weights that place got
/// from all target tokens together)^2 (Xu et al. 2015, eq. 14); the mean over layers and heads. `cross` as Decoded has
/// it, [batch, heads, length, source length] for each layer.
[[nodiscard]] Var doubly_stochastic_loss(const std::vector<Var>& cross, std::span<const std::int64_t> lengths,
                                         float weight);

struct SampledAttention {
  float reward = 1;   // weight of the reward
  float entropy = 0;  // weight of the entropy
};

/// The loss whose gradient is REINFORCE's (Xu et al. 2015, section 4.1): minus the log-probability of the places that
/// were read, times how much better than the baseline the reward was, and minus the entropy of the probabilities.
/// `weights` [batch, 1, length, source length], `read` [batch, length, source length] with 1 at the place that was
/// read, `rewards` [batch]. The baseline [1] is pulled towards the mean of the rewards, by so little that it does not
/// count in the norm of the gradient; it is scaled so that Adam, which takes steps of the same size whatever the
/// gradient, follows them in some hundred steps.
[[nodiscard]] Var sampled_attention_loss(const Var& weights, const Tensor& read, const Tensor& rewards,
                                         const Var& baseline, const SampledAttention& how);

/// A baseline weight times this is what rewards are compared with.
inline constexpr float kBaselineScale = 100;

}  // namespace fovea
