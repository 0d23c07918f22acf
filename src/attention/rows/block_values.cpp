// The weighted sum of a block of queries.
//   forward   o_i = sum_j u_ij (v_j + V_r)
//   backward  du_ij = do_i . (v_j + V_r),  dv_j = sum_i u_ij do_i,  dV_r = the same over the pairs of its distance
// V_r is Shaw's vector for the distance of i and j.
#include <algorithm>

#include "attention/rows/rows.hpp"
#include "kernels/gemm.hpp"

namespace fovea::attention {
namespace {

using kernels::Trans;

// Sums of `used` over the pairs of one distance: [rows, 2K + 1].
Tensor sums_by_distance(const Plan& plan, const Block& block) {
  const Int table = 2 * plan.shaw_reach + 1;
  Tensor sums = Tensor::zeros({block.rows, table});
  for (Int r = 0; r < block.rows; ++r) {
    for (Int c = 0; c < block.columns; ++c) {
      sums.data()[r * table + shaw_row(plan, block.first + r, block.key(c))] += block.used[r * block.pitch + c];
    }
  }
  return sums;
}

}  // namespace

void sum_block(const Plan& plan, const Block& block, float* out, Int out_row) {
  if (block.columns > 0 && block.finite) {
    kernels::gemm(Trans::no, Trans::no, block.rows, plan.value_dim, block.columns, block.used, block.pitch, block.v,
                  block.v_row, 0.0F, out, out_row);
  } else {
    for (Int r = 0; r < block.rows; ++r) {
      float* o = out + r * out_row;
      std::fill_n(o, plan.value_dim, 0.0F);
      for (Int c = 0; c < block.columns; ++c) {
        if (block.visible[r * block.pitch + c] == 0) continue;
        const float u = block.used[r * block.pitch + c];
        const float* v = block.v + c * block.v_row;
        for (Int x = 0; x < plan.value_dim; ++x) o[x] += u * v[x];
      }
    }
  }
  if (plan.shaw_v) {
    const Int table = 2 * plan.shaw_reach + 1;
    const Tensor sums = sums_by_distance(plan, block);
    kernels::gemm(Trans::no, Trans::no, block.rows, plan.value_dim, table, sums.data(), table, plan.shaw_v.data,
                  plan.shaw_v.row, 1.0F, out, out_row);
  }
}

void sum_block_backward(const Plan& plan, const Block& block, const float* dcontext, Int dcontext_row) {
  if (block.columns == 0) return;
  kernels::gemm(Trans::no, Trans::yes, block.rows, block.columns, plan.value_dim, dcontext, dcontext_row, block.v,
                block.v_row, 0.0F, block.gradient, block.pitch);
  if (!plan.shaw_v) return;
  const Int table = 2 * plan.shaw_reach + 1;
  const Tensor dots = Tensor::empty({block.rows, table});
  kernels::gemm(Trans::no, Trans::yes, block.rows, table, plan.value_dim, dcontext, dcontext_row, plan.shaw_v.data,
                plan.shaw_v.row, 0.0F, dots.data(), table);
  for (Int r = 0; r < block.rows; ++r) {
    for (Int c = 0; c < block.columns; ++c) {
      block.gradient[r * block.pitch + c] += dots.data()[r * table + shaw_row(plan, block.first + r, block.key(c))];
    }
  }
}

void sum_block_backward_values(const Plan& plan, const Block& block, const float* dcontext, Int dcontext_row,
                               const ValueGrads& to) {
  if (to.dv != nullptr && block.finite) {
    kernels::gemm(Trans::yes, Trans::no, block.columns, plan.value_dim, block.rows, block.used, block.pitch, dcontext,
                  dcontext_row, 1.0F, to.dv, to.dv_row);
  } else if (to.dv != nullptr) {
    for (Int r = 0; r < block.rows; ++r) {
      const float* d = dcontext + r * dcontext_row;
      for (Int c = 0; c < block.columns; ++c) {
        if (block.visible[r * block.pitch + c] == 0) continue;
        const float u = block.used[r * block.pitch + c];
        for (Int x = 0; x < plan.value_dim; ++x) to.dv[c * to.dv_row + x] += u * d[x];
      }
    }
  }
  if (plan.shaw_v && to.dshaw != nullptr) {
    const Int table = 2 * plan.shaw_reach + 1;
    const Tensor sums = sums_by_distance(plan, block);
    kernels::gemm(Trans::yes, Trans::no, table, plan.value_dim, block.rows, sums.data(), table, dcontext, dcontext_row,
                  1.0F, to.dshaw, plan.value_dim);
  }
}

}  // namespace fovea::attention
