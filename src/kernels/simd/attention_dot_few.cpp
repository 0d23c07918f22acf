// Few queries against many keys, as in a decoder's step: time is that of reading keys and values, so lanes are keys
// here, and no lane waits for a query that is not there. A tile's keys are turned once for all queries. Every value is
// computed by the same chain of operations as in the tiles of attention_forward-inl.hpp: the bytes are the same.
#include "kernels/simd/attention_dot-inl.hpp"
#include "kernels/simd/attention_forward-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

constexpr int kStride = static_cast<int>(kKeyTile);

// adjust() for rows of one query each.
HWY_INLINE bool adjust_rows(const Visibility& visibility, const Tile& t, float* s) {
  const float slope = visibility.alibi_slope * -kLog2eFloat;
  const auto diagonal = static_cast<float>(t.key0 - t.row0 - visibility.offset);
  bool hidden = false;
  for (int b = 0; b < t.queries; ++b) {
    for (int a = 0; a < t.keys; ++a) {
      float& x = s[b * kStride + a];
      if (!is_visible(visibility, t, a, b)) {
        x = kMinusInf;
        hidden = true;
        continue;
      }
      x = __builtin_fmaf(slope, __builtin_fabsf(static_cast<float>(b - a) - diagonal), x);
      if (visibility.bias == nullptr) continue;
      const float bias = visibility.bias[(t.row0 + b) * visibility.bias_row + (t.key0 + a) * visibility.bias_column];
      x += (bias < kLowestBias ? kLowestBias : bias) * kLog2eFloat;
    }
  }
  return hidden;
}

// The scores of one query become weights.
HWY_INLINE bool softmax_row(float* HWY_RESTRICT s, int lanes, float& peak, float& shrink) {
  const F f;
  V top = hn::Set(f, peak);
  for (int a = 0; a < lanes; a += kLanes) top = hn::Max(hn::LoadU(f, s + a), top);
  top = hn::MaxOfLanes(f, top);
  const float old = peak;
  peak = hn::GetLane(top);
  top = hn::IfThenZeroElse(hn::Eq(top, hn::Set(f, kMinusInf)), top);
  shrink = hn::GetLane(Exp2Neg(f, hn::Sub(hn::Set(f, old), top)));
  for (int a = 0; a < lanes; a += kLanes) hn::StoreU(Exp2Neg(f, hn::Sub(hn::LoadU(f, s + a), top)), f, s + a);
  return old != peak;
}

}  // namespace

void dot_forward_few(const DotHead& head, std::int64_t row0, int rows, float* scratch) {
  Carve carve = {scratch};
  const int dim = static_cast<int>(head.dim);
  const int padded = whole_vectors(head.value_dim);
  float* q = carve.floats(kFewQueries * dim);      // scaled
  float* turned = carve.floats(dim * kStride);     // [dim, keys]
  float* s = carve.floats(kFewQueries * kStride);  // [queries, keys]
  float* sum = carve.floats(kFewQueries * padded);
  float* value_memory = carve.floats(kKeyTile * padded);
  const Running run = {carve.floats(kFewQueries), carve.floats(kFewQueries), carve.floats(kFewQueries)};
  float* inverse = carve.floats(kFewQueries);
  const float factor = head.scale * score_factor(head.change);
  for (int b = 0; b < kFewQueries; ++b) {
    run.peak[b] = first_peak(head.sink);
    run.mass[b] = first_mass(head.sink);
    run.shrink[b] = 0;
    for (int d = 0; d < dim && b < rows; ++d) q[b * dim + d] = factor * head.q[(row0 + b) * head.q_stride + d];
  }
  TileWalk walk(head.visibility, row0, rows, {0, head.keys});
  bool first = true;
  Tile t;
  while (walk.next(t)) {
    const int keys = t.keys;
    const std::int64_t key0 = t.key0;
    const int lanes = whole_vectors(keys);
    pack_transposed(head.k + key0 * head.k_stride, head.k_stride, keys, head.dim, 1, turned, kStride);
    multiply({.m = rows,
              .n = lanes,
              .k = dim,
              .a = q,
              .a_stride = dim,
              .b = turned,
              .b_stride = kStride,
              .c = s,
              .c_stride = kStride});
    for (int b = 0; b < rows; ++b) {
      if (head.change) cap_scores(head.change.softcap, s + b * kStride, lanes, nullptr, true);
      for (int a = keys; a < lanes; ++a) s[b * kStride + a] = kMinusInf;
    }
    const bool hidden = t.adjusted && adjust_rows(head.visibility, t, s);
    bool moved = false;
    float masses[kFewQueries] = {};
    for (int b = 0; b < rows; ++b) moved |= softmax_row(s + b * kStride, lanes, run.peak[b], run.shrink[b]);
    for (int a = 0; a < keys; ++a) {
      for (int b = 0; b < rows; ++b) masses[b] += s[b * kStride + a];
    }
    for (int b = 0; b < rows; ++b) run.mass[b] = __builtin_fmaf(run.mass[b], run.shrink[b], masses[b]);
    const float* v = head.v + key0 * head.v_stride;
    if (hidden && !all_finite(v, head.v_stride, keys, head.value_dim)) {
      for (int b = 0; b < rows; ++b) {
        float* row = sum + b * padded;
        if (first) __builtin_memset(row, 0, sizeof(float) * head.value_dim);
        if (!first && moved) scaled_row(row, row, head.value_dim, run.shrink[b]);
      }
      add_seen_values(head, t, s, 1, kStride, sum, padded);
    } else {
      const Rows values = padded_rows(v, head.v_stride, keys, head.value_dim, value_memory);
      multiply({.m = rows,
                .n = padded,
                .k = keys,
                .a = s,
                .a_stride = kStride,
                .b = values.data,
                .b_stride = values.stride,
                .c = sum,
                .c_stride = padded,
                .add = !first,
                .before = moved && !first ? run.shrink : nullptr});
    }
    first = false;
  }
  invert_mass(run, whole_vectors(rows), 0, inverse);
  for (int b = 0; b < rows; ++b) {
    head.peak[row0 + b] = run.peak[b];
    head.mass[row0 + b] = run.mass[b];
    float* out = head.out + (row0 + b) * head.out_stride;
    if (first) {
      __builtin_memset(out, 0, sizeof(float) * head.value_dim);
    } else {
      scaled_row(sum + b * padded, out, head.value_dim, inverse[b]);
    }
  }
}

}  // namespace fovea::kernels::FOVEA_ISA
