// The second stage of attention: from the scores of one query to its weights.
//
// Only keys visible to the query count; the others get weight 0. All divide the scores by `temperature` first.
#pragma once

#include <cstdint>
#include <variant>

#include "fovea/export.hpp"
#include "fovea/var.hpp"

namespace fovea::normalizer {

/// w_j = exp(s_j) / sum_k exp(s_k)
struct Softmax {
  float temperature = 1;  // divides the scores
};

/// The point of the simplex nearest to s; most weights are exactly 0  (Martins and Astudillo 2016).
struct Sparsemax {
  float temperature = 1;  // divides the scores
};

/// Between softmax (alpha towards 1) and sparsemax (alpha = 2): w_j = max((alpha - 1) s_j - tau, 0)^(1 / (alpha - 1))
/// (Peters et al. 2019). Alpha may be learned, one for each head (Correia et al. 2019).
struct Entmax {
  float temperature = 1;  // divides the scores
  float alpha = 1.5F;     // above 1, at most 2
  Var alphas{};           // [heads], each above 1 and at most 2, in place of alpha; optional
};

/// w_j = 1 / (1 + exp(-(s_j + bias))): each key on its own, rows need not sum to 1  (Ramapuram et al. 2024, who take
/// bias = -log keys).
struct Sigmoid {
  float temperature = 1;  // divides the scores
  float bias = 0;         // added to each score
};

/// All weight on the best key, the first of equals. The scores get no gradient, or with `straight_through` that of
/// softmax  (Bengio et al. 2013).
struct Hard {
  float temperature = 1;          // divides the scores
  bool straight_through = false;  // gradient of softmax instead of none
};

/// How scores learn through a choice, see Sampled.
enum class Estimator { straight_through, reinforce };

/// All weight on one key sampled with softmax's probabilities  (Xu et al. 2015, "hard attention"). What the scores
/// learn from: straight_through, softmax's gradient of the context's; reinforce, only that of
/// Attended::log_probability, from which the loss -(reward - baseline) log p is made (reinforce_loss). The same seed
/// samples the same keys.
struct Sampled {
  float temperature = 1;                       // divides the scores
  Estimator estimator = Estimator::reinforce;  // what the scores learn from
  std::uint64_t seed = 0;                      // of the samples
};

/// w_j = tanh(s_j): an affinity, positive or negative, as co-attention uses it  (Lu et al. 2016, eq. 3).
struct Tanh {
  float temperature = 1;  // divides the scores
};

}  // namespace fovea::normalizer

namespace FOVEA_API fovea {

/// Any of the normalisers.
using Normalizer = std::variant<normalizer::Softmax, normalizer::Sparsemax, normalizer::Entmax, normalizer::Sigmoid,
                                normalizer::Hard, normalizer::Sampled, normalizer::Tanh>;

}  // namespace fovea
