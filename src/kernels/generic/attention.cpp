// The plain attention kernels: loops over pairs in double precision.
//
//   forward   P_ij = softmax_j(score_ij), out_i = sum_j keep_ij P_ij v_j
//   backward  dP_ij = keep_ij dout_i v_j', dS_ij = P_ij (dP_ij - dout_i out_i'), dv_j = sum_i keep_ij P_ij dout_i
//     dot       dq_i = scale sum_j dS_ij k_j, dk_j = scale sum_i dS_ij q_i
//     additive  t = tanh(a_i + b_j): da_i = sum_j dS_ij w (1 - t^2), db_j = sum_i the same, dw = sum_ij dS_ij t
#include "kernels/attention.hpp"

#include <algorithm>

#include "kernels/generic/attention_pairs.hpp"

namespace fovea::kernels::generic {
namespace {

std::int64_t scratch_floats(std::int64_t keys, std::int64_t dim, std::int64_t value_dim) {
  return 2 * (keys + std::max(dim, value_dim)) + 16 + kRowBlock * kKeyChunk;
}

template <class Head>
void forward(const Head& head, Range rows, float* scratch) {
  auto* sum = reinterpret_cast<double*>(scratch);             // [value_dim]
  float* s = reinterpret_cast<float*>(sum + head.value_dim);  // [keys]
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const bool sinks = head.sink != nullptr;
    const float sink = sinks ? static_cast<float>(*head.sink * kLog2e) : -std::numeric_limits<float>::infinity();
    float peak = sink;
    for (std::int64_t j = 0; j < head.keys; ++j) {
      s[j] = score(head, i, j);
      if (s[j] > peak) peak = s[j];
    }
    double mass = lifted(sink, peak);
    std::fill(sum, sum + head.value_dim, 0.0);
    for (std::int64_t j = 0; j < head.keys; ++j) {
      if (s[j] == -std::numeric_limits<float>::infinity()) continue;
      const double weight = lifted(s[j], peak);
      mass += weight;
      const double kept_weight = weight * kept(head, i, j);
      const float* v = head.v + j * head.v_stride;
      for (std::int64_t e = 0; e < head.value_dim; ++e) sum[e] += kept_weight * v[e];
    }
    for (std::int64_t e = 0; e < head.value_dim; ++e) {
      head.out[i * head.out_stride + e] = static_cast<float>(mass == 0 ? 0 : sum[e] / mass);
    }
    head.peak[i] = peak;
    head.mass[i] = static_cast<float>(mass);
  }
}

struct Pair {
  double weight = 0;  // P_ij
  double keep = 0;    // 0 or 1 / (1 - rate)
  double ds = 0;      // of the changed score
};

template <class Head>
Pair pair(const Head& head, const AttentionGrads& grads, std::int64_t i, std::int64_t j) {
  const float s = score(head, i, j);
  if (s == -std::numeric_limits<float>::infinity()) return {};
  const float* dout = grads.dout + i * grads.dout_stride;
  Pair p;
  p.weight = lifted(s, head.peak[i]) / head.mass[i];
  p.keep = kept(head, i, j);
  const double dp = p.keep * dot(dout, head.v + j * head.v_stride, head.value_dim);
  const double dlog_sum = grads.dlog_sum == nullptr ? 0 : grads.dlog_sum[i];
  p.ds = p.weight * (dp - dot(dout, head.out + i * head.out_stride, head.value_dim) + dlog_sum);
  return p;
}

// Rounds before it adds: the same bytes whether a chunk of keys is added here or by the caller, from a buffer.
void write(const GradRows& to, std::int64_t row, const double* sum, std::int64_t n) {
  float* y = to.data + row * to.stride;
  for (std::int64_t d = 0; d < n; ++d) {
    const auto value = static_cast<float>(sum[d]);
    y[d] = to.add ? y[d] + value : value;
  }
}

// Adds d(score)/d(query's row) * ds to `sum`; the same for the key's row; and for w.
void add_query(const DotHead& head, std::int64_t, std::int64_t j, double ds, double* sum) {
  for (std::int64_t d = 0; d < head.dim; ++d) sum[d] += ds * head.scale * head.k[j * head.k_stride + d];
}
void add_key(const DotHead& head, std::int64_t i, std::int64_t, double ds, double* sum) {
  for (std::int64_t d = 0; d < head.dim; ++d) sum[d] += ds * head.scale * head.q[i * head.q_stride + d];
}
void add_query(const AdditiveHead& head, std::int64_t i, std::int64_t j, double ds, double* sum) {
  for (std::int64_t d = 0; d < head.dim; ++d) {
    const double t = std::tanh(static_cast<double>(head.a[i * head.a_stride + d]) + head.b[j * head.b_stride + d]);
    sum[d] += ds * head.w[d] * (1 - t * t);
  }
}
void add_key(const AdditiveHead& head, std::int64_t i, std::int64_t j, double ds, double* sum) {
  add_query(head, i, j, ds, sum);
}
void add_w(const DotHead&, std::int64_t, std::int64_t, double, float*) {}
void add_w(const AdditiveHead& head, std::int64_t i, std::int64_t j, double ds, float* dw) {
  for (std::int64_t d = 0; d < head.dim; ++d) {
    const double t = std::tanh(static_cast<double>(head.a[i * head.a_stride + d]) + head.b[j * head.b_stride + d]);
    dw[d] = static_cast<float>(dw[d] + ds * t);
  }
}

template <class Head>
void backward_block(const Head& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch) {
  auto* sum = reinterpret_cast<double*>(scratch);  // [max(dim, value_dim)]
  // Modifiers add to gradients of their own, so they are asked once for each pair.
  float* before_change = scratch + 2 * std::max(head.dim, head.value_dim);  // [rows, keys]
  const std::int64_t width = keys.end - keys.begin;
  for (std::int64_t i = rows.begin; head.change && i < rows.end; ++i) {
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      const Pair p = pair(head, grads, i, j);
      before_change[(i - rows.begin) * width + j - keys.begin] =
          p.weight == 0 ? 0 : static_cast<float>(unchanged_gradient(head, i, j, p.ds));
    }
  }
  const auto unchanged = [&](const Pair& p, std::int64_t i, std::int64_t j) -> double {
    return head.change ? before_change[(i - rows.begin) * width + j - keys.begin] : p.ds;
  };
  if (grads.dq.data != nullptr) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      std::fill(sum, sum + head.dim, 0.0);
      for (std::int64_t j = keys.begin; j < keys.end; ++j) {
        const Pair p = pair(head, grads, i, j);
        if (p.weight != 0) add_query(head, i, j, unchanged(p, i, j), sum);
      }
      write(grads.dq, i, sum, head.dim);
    }
  }
  for (std::int64_t j = keys.begin; j < keys.end; ++j) {
    std::fill(sum, sum + head.dim, 0.0);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const Pair p = pair(head, grads, i, j);
      if (p.weight == 0) continue;
      add_key(head, i, j, unchanged(p, i, j), sum);
      if (grads.dw != nullptr) add_w(head, i, j, unchanged(p, i, j), grads.dw);
      if (grads.dbias != nullptr) grads.dbias[i * grads.dbias_row + j * grads.dbias_column] += static_cast<float>(p.ds);
    }
    if (grads.dk.data != nullptr) write(grads.dk, j, sum, head.dim);
    if (grads.dv.data == nullptr) continue;
    std::fill(sum, sum + head.value_dim, 0.0);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const Pair p = pair(head, grads, i, j);
      if (p.weight == 0) continue;
      for (std::int64_t e = 0; e < head.value_dim; ++e) {
        sum[e] += p.weight * p.keep * grads.dout[i * grads.dout_stride + e];
      }
    }
    write(grads.dv, j, sum, head.value_dim);
  }
}

// Block by block, so that the roundings of dk and dv do not depend on how the caller cut the rows.
template <class Head>
void backward(const Head& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch) {
  AttentionGrads block = grads;
  for (std::int64_t row = rows.begin; row < rows.end; row += kRowBlock) {
    backward_block(head, block, {row, std::min(row + kRowBlock, rows.end)}, keys, scratch);
    block.dk.add = block.dv.add = true;
  }
}

template <class Head>
void weights(const Head& head, const WeightsWanted& wanted, Range rows, float* scratch) {
  float* weight = scratch;  // [keys]
  float* left = scratch + head.keys;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t r = i - rows.begin;
    double entropy = 0;
    for (std::int64_t j = 0; j < head.keys; ++j) {
      const float s = score(head, i, j);
      const double p = head.mass[i] == 0 ? 0 : lifted(s, head.peak[i]) / head.mass[i];
      weight[j] = left[j] = static_cast<float>(p);
      if (p > 0) entropy -= p * std::log(p);
      if (wanted.column_sums != nullptr) wanted.column_sums[j] += weight[j];
    }
    if (wanted.entropy != nullptr) wanted.entropy[r] = static_cast<float>(entropy);
    if (wanted.weights != nullptr) std::copy(weight, weight + head.keys, wanted.weights + r * wanted.weights_stride);
    for (std::int64_t n = 0; wanted.top_index != nullptr && n < wanted.top; ++n) {
      const float* best = std::max_element(left, left + head.keys);  // the first of equal ones
      const std::int64_t j = best - left;
      wanted.top_index[r * wanted.top + n] = j;
      wanted.top_weight[r * wanted.top + n] = weight[j];
      left[j] = -1;
    }
  }
}

}  // namespace

extern const AttentionKernels attention;
const AttentionKernels attention = {
    .scratch = scratch_floats,
    .dot_forward = forward<DotHead>,
    .dot_backward = backward<DotHead>,
    .dot_weights = weights<DotHead>,
    .additive_forward = forward<AdditiveHead>,
    .additive_backward = backward<AdditiveHead>,
    .additive_weights = weights<AdditiveHead>,
};

}  // namespace fovea::kernels::generic
