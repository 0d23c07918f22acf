#include "kernels/attention_step.hpp"

#include <algorithm>
#include <cmath>

namespace fovea::kernels::generic {
namespace {

// tanh(q + k_j + coverage_j c) of one pair of values, from the values or from their exponentials.
float activation(const AdditiveStep& s, std::int64_t j, std::int64_t i) {
  const float covered = s.coverage == nullptr ? 0.0F : s.coverage[j] * s.coverage_weight[i];
  return std::tanh(s.q[i] + s.k[j * s.k_stride + i] + covered);
}

float activation_exp(const AdditiveStep& s, std::int64_t j, std::int64_t i) {
  return 1.0F - 2.0F / (1.0F + s.q[i] * s.k[j * s.k_stride + i]);
}

template <class Activation>
void scores_of(const AdditiveStep& s, float* scores, const Activation& tanh) {
  for (std::int64_t j = 0; j < s.keys; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < s.dim; ++i) sum += s.v[i] * tanh(s, j, i);
    scores[j] = sum;
  }
}

template <class Activation>
void gradients_of(const AdditiveStep& s, const AdditiveStepGrads& g, const Activation& tanh) {
  if (g.dq != nullptr) std::fill_n(g.dq, s.dim, 0.0F);
  for (std::int64_t j = 0; j < s.keys; ++j) {
    float covered = 0;
    for (std::int64_t i = 0; i < s.dim; ++i) {
      const float t = tanh(s, j, i);
      const float d = g.dscores[j] * s.v[i] * (1 - t * t);
      if (g.dq != nullptr) g.dq[i] += d;
      if (g.dk != nullptr) g.dk[j * s.k_stride + i] += d;
      if (g.dv != nullptr) g.dv[i] += g.dscores[j] * t;
      if (g.dcoverage != nullptr) covered += d * s.coverage_weight[i];
      if (g.dcoverage_weight != nullptr) g.dcoverage_weight[i] += d * s.coverage[j];
    }
    if (g.dcoverage != nullptr) g.dcoverage[j] = covered;
  }
}

void additive(const AdditiveStep& step, float* scores) {
  scores_of(step, scores, activation);
}
void additive_backward(const AdditiveStep& step, const AdditiveStepGrads& grads) {
  gradients_of(step, grads, activation);
}
void additive_exp(const AdditiveStep& step, float* scores) {
  scores_of(step, scores, activation_exp);
}
void additive_exp_backward(const AdditiveStep& step, const AdditiveStepGrads& grads) {
  gradients_of(step, grads, activation_exp);
}

float exp_twice(std::int64_t n, const float* x, float* y) {
  float most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!(std::abs(x[i]) <= most)) most = std::abs(x[i]);
    y[i] = std::exp(2 * x[i]);
    if (std::isnan(most)) return most;
  }
  return most;
}

void dot(std::int64_t keys, std::int64_t dim, float scale, const float* q, const float* k, std::int64_t k_stride,
         float* scores) {
  for (std::int64_t j = 0; j < keys; ++j) {
    float sum = 0;
    for (std::int64_t i = 0; i < dim; ++i) sum += q[i] * k[j * k_stride + i];
    scores[j] = scale * sum;
  }
}

void weigh(std::int64_t keys, std::int64_t dim, const float* weights, const float* v, std::int64_t v_stride,
           float* out) {
  std::fill_n(out, dim, 0.0F);
  for (std::int64_t j = 0; j < keys; ++j) {
    for (std::int64_t i = 0; i < dim; ++i) out[i] += weights[j] * v[j * v_stride + i];
  }
}

void softmax(std::int64_t keys, float* scores) {
  if (keys <= 0) return;
  const float most = *std::max_element(scores, scores + keys);
  float sum = 0;
  for (std::int64_t j = 0; j < keys; ++j) sum += scores[j] = std::exp(scores[j] - most);
  for (std::int64_t j = 0; j < keys; ++j) scores[j] /= sum;
}

void attend_heads(const HeadsStep& s) {
  std::fill_n(s.out, s.heads * s.dim, 0.0F);
  const auto at = [&s](const float* rows, std::int64_t j) {
    return rows + (s.offsets != nullptr ? s.offsets[j] : j * s.stride);
  };
  for (std::int64_t h = 0; h < s.heads; ++h) {
    float* w = s.weights + h * s.keys;
    for (std::int64_t j = 0; j < s.keys; ++j) {
      float sum = 0;
      for (std::int64_t i = h * s.dim; i < (h + 1) * s.dim; ++i) sum += s.q[i] * at(s.k, j)[i];
      w[j] = s.scale * sum + (s.bias != nullptr ? s.bias[h * s.keys + j] : 0.0F);
    }
    softmax(s.keys, w);
    for (std::int64_t j = 0; j < s.keys; ++j) {
      for (std::int64_t i = h * s.dim; i < (h + 1) * s.dim; ++i) s.out[i] += w[j] * at(s.v, j)[i];
    }
  }
}

}  // namespace

extern const AttentionStepKernels attention_step;
const AttentionStepKernels attention_step = {
    .additive = additive,
    .additive_backward = additive_backward,
    .additive_exp = additive_exp,
    .additive_exp_backward = additive_exp_backward,
    .exp_twice = exp_twice,
    .dot = dot,
    .weigh = weigh,
    .softmax = softmax,
    .attend_heads = attend_heads,
};

}  // namespace fovea::kernels::generic
