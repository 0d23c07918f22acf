// Attention of one query over the keys of one sequence: the step of a recurrent decoder, forward and backward. (Many
// queries at once are attention.hpp's.)
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// score_j = v . tanh(q + k_j + coverage_j c): the additive family, with queries and keys already projected.
struct AdditiveStep {
  std::int64_t keys = 0, dim = 0;
  const float* q = nullptr;  // [dim]
  const float* k = nullptr;  // [keys, dim], rows k_stride apart
  std::int64_t k_stride = 0;
  const float* v = nullptr;                // [dim]
  const float* coverage = nullptr;         // [keys]; null: none
  const float* coverage_weight = nullptr;  // [dim]: c
};

/// Null: not wanted.
struct AdditiveStepGrads {
  const float* dscores = nullptr;     // [keys]
  float* dq = nullptr;                // [dim], written
  float* dk = nullptr;                // [keys, dim], rows k_stride apart; added to
  float* dv = nullptr;                // [dim], added to
  float* dcoverage = nullptr;         // [keys], written
  float* dcoverage_weight = nullptr;  // [dim], added to
};

/// Several heads side by side, each a query over the same keys: out_h = sum_j softmax_j(scale q_h . k_jh + bias_hj)
/// v_jh. Keys may be anywhere in memory: the hypotheses of a beam share theirs, and nothing is copied when the beam
/// moves on.
struct HeadsStep {
  std::int64_t keys = 0, heads = 0, dim = 0;  // dim: of one head
  float scale = 1;
  const float* q = nullptr;  // [heads * dim]
  const float* k = nullptr;  // key j at k + offsets[j], or k + j * stride without offsets: [heads * dim]
  const float* v = nullptr;  // values, the same
  const std::int64_t* offsets = nullptr;
  std::int64_t stride = 0;
  const float* bias = nullptr;  // [heads, keys], added to the scores; null: nothing is
  float* weights = nullptr;     // [heads, keys], out
  bool want_weights = false;    // otherwise a row need not sum to 1
  float* out = nullptr;         // [heads * dim]; zeros without keys
};

struct AttentionStepKernels {
  void (*additive)(const AdditiveStep& step, float* scores);
  void (*additive_backward)(const AdditiveStep& step, const AdditiveStepGrads& grads);
  /// The same without coverage, where q and k hold exp(2 q) and exp(2 k), since tanh(a + b) = 1 - 2 / (1 + e^2a e^2b):
  /// one reciprocal instead of a tanh. For |q|, |k| <= kAdditiveReach, so that the product stays finite. Gradients are
  /// those of q and k, not of their exponentials.
  void (*additive_exp)(const AdditiveStep& step, float* scores);
  void (*additive_exp_backward)(const AdditiveStep& step, const AdditiveStepGrads& grads);
  /// y = exp(2 x); gives the largest |x|, or NaN if an x is NaN.
  float (*exp_twice)(std::int64_t n, const float* x, float* y);
  /// score_j = scale q . k_j
  void (*dot)(std::int64_t keys, std::int64_t dim, float scale, const float* q, const float* k, std::int64_t k_stride,
              float* scores);
  /// out = sum_j w_j v_j
  void (*weigh)(std::int64_t keys, std::int64_t dim, const float* weights, const float* v, std::int64_t v_stride,
                float* out);
  /// In place, from scores to weights; scores up to 1e30 stay finite.
  void (*softmax)(std::int64_t keys, float* scores);
  void (*attend_heads)(const HeadsStep& step);
};

constexpr float kAdditiveReach = 20.0F;

}  // namespace fovea::kernels
