// The scores of a block of queries: dot and additive family.
//   dot       s_ij = scale q_i . (k_j + K_r)           dq_i = scale sum_j ds_ij (k_j + K_r)
//                                                      dk_j = scale sum_i ds_ij q_i,   dK_r likewise over its pairs
//   additive  s_ij = w . f(q_i + k_j)                  dq_i = sum_j ds_ij w f'(q_i + k_j), dk_j = the same over i
//                                                      dw   = sum_ij ds_ij f(q_i + k_j)
// K_r is Shaw's vector for the distance of i and j.
#include <algorithm>

#include "attention/rows/rows.hpp"
#include "kernels/activation.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::attention {
namespace {

using kernels::Trans;

void score_dot(const Plan& plan, const Block& block) {
  kernels::gemm(Trans::no, Trans::yes, block.rows, block.columns, plan.dim, plan.q.at(block.b, block.h, block.first),
                plan.q.row, block.k, block.k_row, 0.0F, block.scores, block.pitch);
  for (Int r = 0; r < block.rows; ++r) {
    float* s = block.scores + r * block.pitch;
    for (Int c = 0; c < block.columns; ++c) s[c] *= plan.scale;
  }
  if (!plan.shaw_k) return;
  const Int table = 2 * plan.shaw_reach + 1;
  const Tensor dots = Tensor::empty({block.rows, table});
  kernels::gemm(Trans::no, Trans::yes, block.rows, table, plan.dim, plan.q.at(block.b, block.h, block.first),
                plan.q.row, plan.shaw_k.data, plan.shaw_k.row, 0.0F, dots.data(), table);
  for (Int r = 0; r < block.rows; ++r) {
    float* s = block.scores + r * block.pitch;
    const float* dot = dots.data() + r * table;
    for (Int c = 0; c < block.columns; ++c) s[c] += plan.scale * dot[shaw_row(plan, block.first + r, block.key(c))];
  }
}

// As score_dot_backward, pair by pair: a NaN in q or k reaches only the pairs it is visible to.
void score_dot_backward_by_pairs(const Plan& plan, const Block& block, const ScoreGrads& to) {
  for (Int r = 0; r < block.rows; ++r) {
    const float* q = plan.q.at(block.b, block.h, block.first + r);
    for (Int c = 0; c < block.columns; ++c) {
      if (block.visible[r * block.pitch + c] == 0) continue;
      const float ds = block.gradient[r * block.pitch + c];
      const float* k = block.k + c * block.k_row;
      float* dq = to.dq ? to.dq.at(block.b, block.h, block.first + r) : nullptr;
      for (Int x = 0; dq != nullptr && x < plan.dim; ++x) dq[x] += ds * k[x];
      for (Int x = 0; to.dk != nullptr && x < plan.dim; ++x) to.dk[c * to.dk_row + x] += ds * q[x];
    }
  }
}

void score_dot_backward(const Plan& plan, const Block& block, const ScoreGrads& to) {
  for (Int r = 0; r < block.rows; ++r) {
    float* ds = block.gradient + r * block.pitch;
    for (Int c = 0; c < block.columns; ++c) ds[c] *= plan.scale;
  }
  const float* q = plan.q.at(block.b, block.h, block.first);
  float* dq = to.dq ? to.dq.at(block.b, block.h, block.first) : nullptr;
  if (!block.finite) {
    score_dot_backward_by_pairs(plan, block, to);
  } else {
    if (dq != nullptr) {
      kernels::gemm(Trans::no, Trans::no, block.rows, plan.dim, block.columns, block.gradient, block.pitch, block.k,
                    block.k_row, 1.0F, dq, to.dq.row);
    }
    if (to.dk != nullptr) {
      kernels::gemm(Trans::yes, Trans::no, block.columns, plan.dim, block.rows, block.gradient, block.pitch, q,
                    plan.q.row, 1.0F, to.dk, to.dk_row);
    }
  }
  if (!plan.shaw_k) return;
  const Int table = 2 * plan.shaw_reach + 1;
  const Tensor sums = Tensor::zeros({block.rows, table});  // of ds over the pairs of one distance
  for (Int r = 0; r < block.rows; ++r) {
    for (Int c = 0; c < block.columns; ++c) {
      sums.data()[r * table + shaw_row(plan, block.first + r, block.key(c))] += block.gradient[r * block.pitch + c];
    }
  }
  if (dq != nullptr) {
    kernels::gemm(Trans::no, Trans::no, block.rows, plan.dim, table, sums.data(), table, plan.shaw_k.data,
                  plan.shaw_k.row, 1.0F, dq, to.dq.row);
  }
  if (to.dshaw != nullptr) {
    kernels::gemm(Trans::yes, Trans::no, table, plan.dim, block.rows, sums.data(), table, q, plan.q.row, 1.0F, to.dshaw,
                  plan.dim);
  }
}

// f(q + k) for one pair into t.
void activate(const Plan& plan, const float* q, const float* k, float* t) {
  for (Int x = 0; x < plan.dim; ++x) t[x] = q[x] + k[x];
  if (plan.activation == Activation::tanh) {
    kernels::active().math->tanh(t, t, static_cast<std::size_t>(plan.dim));
  } else {
    for (Int x = 0; x < plan.dim; ++x) t[x] = t[x] > 0 ? t[x] : kernels::kLeakySlope * t[x];
  }
}

void score_additive(const Plan& plan, const Block& block) {
  const Tensor scratch = Tensor::empty({plan.dim});
  float* t = scratch.data();
  for (Int r = 0; r < block.rows; ++r) {
    const float* q = plan.q.at(block.b, block.h, block.first + r);
    for (Int c = 0; c < block.columns; ++c) {
      if (block.visible[r * block.pitch + c] == 0) continue;
      activate(plan, q, block.k + c * block.k_row, t);
      float s = 0;
      for (Int x = 0; x < plan.dim; ++x) s += plan.w[x] * t[x];
      block.scores[r * block.pitch + c] = s;
    }
  }
}

void score_additive_backward(const Plan& plan, const Block& block, const ScoreGrads& to) {
  const Tensor scratch = Tensor::empty({2, plan.dim});
  float* t = scratch.data();
  float* slope = t + plan.dim;  // w f'(q + k)
  for (Int r = 0; r < block.rows; ++r) {
    const float* q = plan.q.at(block.b, block.h, block.first + r);
    float* dq = to.dq ? to.dq.at(block.b, block.h, block.first + r) : nullptr;
    for (Int c = 0; c < block.columns; ++c) {
      const float ds = block.gradient[r * block.pitch + c];
      if (block.visible[r * block.pitch + c] == 0 || ds == 0.0F) continue;
      activate(plan, q, block.k + c * block.k_row, t);
      if (plan.activation == Activation::tanh) {
        for (Int x = 0; x < plan.dim; ++x) slope[x] = ds * plan.w[x] * (1 - t[x] * t[x]);
      } else {
        for (Int x = 0; x < plan.dim; ++x) slope[x] = ds * plan.w[x] * (t[x] > 0 ? 1.0F : kernels::kLeakySlope);
      }
      for (Int x = 0; dq != nullptr && x < plan.dim; ++x) dq[x] += slope[x];
      float* dk = to.dk != nullptr ? to.dk + c * to.dk_row : nullptr;
      for (Int x = 0; dk != nullptr && x < plan.dim; ++x) dk[x] += slope[x];
      for (Int x = 0; to.dw != nullptr && x < plan.dim; ++x) to.dw[x] += ds * t[x];
    }
  }
}

}  // namespace

void score_block(const Plan& plan, const Block& block) {
  if (block.columns == 0) return;
  switch (plan.kind) {
    case Kind::dot:
      return score_dot(plan, block);
    case Kind::additive:
      return score_additive(plan, block);
    case Kind::pairwise:
      return score_pairwise(plan, block);
    case Kind::block:
      return score_taped(plan, block);
  }
}

void score_block_backward(const Plan& plan, const Block& block, const ScoreGrads& to) {
  if (block.columns == 0) return;
  switch (plan.kind) {
    case Kind::dot:
      return score_dot_backward(plan, block, to);
    case Kind::additive:
      return score_additive_backward(plan, block, to);
    case Kind::pairwise:
      return score_pairwise_backward(plan, block, to);
    case Kind::block:
      return score_taped_backward(plan, block, to);
  }
}

}  // namespace fovea::attention
