// From the weights to the factors of the sum: local attention's Gaussian, then dropout.
//   u_ij = w_ij exp(-(j - p_i)^2 / (2 sigma^2)) m_ij          m_ij = 0 with the rate's probability, else 1 / (1 - rate)
//   dw_ij = du_ij m_ij exp(...),   dp_i = sum_j du_ij m_ij w_ij exp(...) (j - p_i) / sigma^2
#include <algorithm>
#include <cmath>

#include "attention/rows/rows.hpp"
#include "kernels/weight_dropout.hpp"

namespace fovea::attention {
namespace {

float center(const Plan& plan, const Block& block, Int r) {
  const Int i = block.first + r;
  return plan.center ? *plan.center.at(block.b, block.h, i) : static_cast<float>(i);
}

// 1 / sigma^2, sigma = half_width / 2.
float sharpness(const Plan& plan) {
  const float sigma = std::max(1e-6F, static_cast<float>(plan.half_width) / 2);
  return 1.0F / (sigma * sigma);
}

}  // namespace

void focus_block(const Plan& plan, const Block& block) {
  if (block.used == block.weights) return;
  for (Int r = 0; r < block.rows; ++r) {
    const float* w = block.weights + r * block.pitch;
    float* used = block.used + r * block.pitch;
    std::copy_n(w, block.pitch, used);
    if (!plan.gaussian) continue;
    const float p = center(plan, block, r);
    for (Int c = 0; c < block.columns; ++c) {
      if (w[c] == 0.0F) continue;
      const float away = static_cast<float>(block.key(c)) - p;
      used[c] = w[c] * std::exp(-away * away * sharpness(plan) / 2);
    }
  }
}

void focus_block_backward(const Plan& plan, const Block& block, float* dcenter) {
  if (!plan.gaussian) return;
  for (Int r = 0; r < block.rows; ++r) {
    const float* w = block.weights + r * block.pitch;
    float* g = block.gradient + r * block.pitch;
    const float p = center(plan, block, r);
    float sum = 0;
    for (Int c = 0; c < block.columns; ++c) {
      if (block.visible[r * block.pitch + c] == 0) continue;
      const float away = static_cast<float>(block.key(c)) - p;
      g[c] *= std::exp(-away * away * sharpness(plan) / 2);
      sum += g[c] * w[c] * away * sharpness(plan);
    }
    if (dcenter != nullptr) dcenter[block.first + r] += sum;
  }
}

void drop_block(const Plan& plan, const Block& block, float* values) {
  if (plan.dropout <= 0) return;
  const float keep = 1.0F / (1.0F - plan.dropout);
  const kernels::WeightDropout dropout{plan.dropout, plan.dropout_seed, 0};
  for (Int r = 0; r < block.rows; ++r) {
    const Int row = ((block.b * plan.heads + block.h) * plan.queries + block.first + r) * plan.keys;
    for (Int c = 0; c < block.columns; ++c) {
      float& x = values[r * block.pitch + c];
      x = kernels::weight_kept(dropout, row + block.key(c)) ? x * keep : 0.0F;
    }
  }
}

}  // namespace fovea::attention
