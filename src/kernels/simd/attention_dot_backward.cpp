// The gradient of the dot family (Dao et al. 2022, algorithm 4), tiles [keys, queries]:
//   P = 2^(S - peak) / mass   dP = keep v dout'   dS = scale P (dP - dout out')
//   dv += (keep P) dout       dk += dS q          dq += dS' k
#include "kernels/simd/attention_backward-inl.hpp"
#include "kernels/simd/attention_dot-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

struct DotBackward {
  const DotHead& head;
  const AttentionGrads& grads;
  DotScores scores;
  float* s;       // [keys, queries]
  float* ds;      // [keys, queries]
  float* keeps;   // [keys, queries]
  float* memory;  // for adjust
  float* dout_t;  // [value_dim, queries]
  float* q_rows;  // padded copies, where widths are not whole vectors
  float* dout_rows;
  float* k_rows;
  float* v_rows;  // for borrow()
  float* dq_sum;  // [queries, dim]
  Kept kept;

  HWY_INLINE DotBackward(const DotHead& h, const AttentionGrads& g, float* scratch)
      : head(h), grads(g), scores{h, nullptr} {
    Carve carve = {scratch};
    const int dim = whole_vectors(h.dim);
    const int value_dim = whole_vectors(h.value_dim);
    scores.q = carve.floats(DotScores::floats(h.dim));
    s = carve.floats(kQueryTile * kKeyTile);
    ds = carve.floats(kQueryTile * kKeyTile);
    keeps = carve.floats(kQueryTile * kKeyTile);
    memory = carve.floats(kAdjustFloats);
    dout_t = carve.floats(h.value_dim * kQueryTile);
    q_rows = carve.floats(dim * kQueryTile);
    dout_rows = carve.floats(value_dim * kQueryTile);
    k_rows = carve.floats(most(dim, value_dim) * kKeyTile);
    v_rows = carve.floats(most(dim, value_dim) * kKeyTile);
    dq_sum = carve.floats(dim * kQueryTile);
    kept = {carve.floats(kQueryTile), carve.floats(kQueryTile), carve.floats(kQueryTile)};
  }

  // The products pair by pair, for a tile that hides some pairs and whose rows are not all finite.
  HWY_INLINE void add_seen_pairs(const Tile& t, int stride) {
    const int dim = whole_vectors(head.dim);
    for (int b = 0; b < t.queries; ++b) {
      const std::int64_t i = t.row0 + b;
      for (int a = 0; a < t.keys; ++a) {
        if (!sees(head.sight, t, a, b)) continue;
        const std::int64_t j = t.key0 + a;
        const float p = s[a * stride + b];
        const float d = ds[a * stride + b];
        if (grads.dv.data != nullptr) {
          add_scaled(grads.dv.data + j * grads.dv.stride, grads.dout + i * grads.dout_stride, p, head.value_dim);
        }
        if (grads.dk.data != nullptr) {
          add_scaled(grads.dk.data + j * grads.dk.stride, head.q + i * head.q_stride, d, head.dim);
        }
        if (grads.dq.data != nullptr) add_scaled(dq_sum + b * dim, head.k + j * head.k_stride, d, head.dim);
      }
    }
  }

  HWY_INLINE bool tile_is_finite(const Tile& t) {
    return all_finite(head.v + t.key0 * head.v_stride, head.v_stride, t.keys, head.value_dim) &&
           all_finite(head.k + t.key0 * head.k_stride, head.k_stride, t.keys, head.dim) &&
           all_finite(head.q + t.row0 * head.q_stride, head.q_stride, t.queries, head.dim) &&
           all_finite(grads.dout + t.row0 * grads.dout_stride, grads.dout_stride, t.queries, head.value_dim);
  }

  HWY_INLINE void tile(const Tile& t, int columns, const Rows& q, const Rows& dout) {
    const int dim = whole_vectors(head.dim);
    const int value_dim = whole_vectors(head.value_dim);
    scores.tile(t, s, columns);
    const bool hidden = t.adjusted && adjust(head.sight, t, s, columns, memory);
    multiply_banded_columns({.m = t.keys,
                             .n = columns,
                             .k = static_cast<int>(head.value_dim),
                             .a = head.v + t.key0 * head.v_stride,
                             .a_stride = head.v_stride,
                             .b = dout_t,
                             .b_stride = columns,
                             .c = ds,
                             .c_stride = columns,
                             .from = t.from,
                             .to = t.to});
    const bool dropping = head.dropout.rate > 0;
    if (dropping) {
      for (int at = 0; at < t.keys * columns; ++at) keeps[at] = 1;
      drop(head.dropout, head.keys, t, keeps, columns);
    }
    weights_and_ds(t, hidden, 1 / (1 - head.dropout.rate), dropping ? keeps : nullptr, s, ds, columns, kept);
    if (grads.dbias != nullptr) {
      add_dbias(grads, t, ds, columns);
      scale_tile(ds, t.keys, columns, head.scale);
    }
    if (hidden && !tile_is_finite(t)) {
      add_seen_pairs(t, columns);
      return;
    }
    if (grads.dv.data != nullptr) {
      const GradTile to = borrow(grads.dv, t.key0, t.keys, head.value_dim, v_rows);
      multiply({.m = t.keys,
                .n = value_dim,
                .k = t.queries,
                .a = s,
                .a_stride = columns,
                .b = dout.data,
                .b_stride = dout.stride,
                .c = to.data,
                .c_stride = to.stride,
                .add = true,
                .from = t.from,
                .to = t.to});
      give_back(to, grads.dv, t.key0, t.keys, head.value_dim);
    }
    if (grads.dk.data != nullptr) {
      const GradTile to = borrow(grads.dk, t.key0, t.keys, head.dim, v_rows);
      multiply({.m = t.keys,
                .n = dim,
                .k = t.queries,
                .a = ds,
                .a_stride = columns,
                .b = q.data,
                .b_stride = q.stride,
                .c = to.data,
                .c_stride = to.stride,
                .add = true,
                .from = t.from,
                .to = t.to});
      give_back(to, grads.dk, t.key0, t.keys, head.dim);
    }
    if (grads.dq.data != nullptr) {
      const Rows k = padded_rows(head.k + t.key0 * head.k_stride, head.k_stride, t.keys, head.dim, k_rows);
      multiply_transposed({.m = t.queries,
                           .n = dim,
                           .k = t.keys,
                           .a = ds,
                           .a_stride = columns,
                           .b = k.data,
                           .b_stride = k.stride,
                           .c = dq_sum,
                           .c_stride = dim,
                           .add = true,
                           .from = -t.to,
                           .to = -t.from});
    }
  }

  HWY_INLINE void block(std::int64_t row0, int rows, Range keys) {
    const int columns = whole_vectors(rows);
    const int dim = whole_vectors(head.dim);
    const Range seen = seen_keys(head.sight, row0, rows, keys);
    if (seen.begin >= seen.end) {
      if (grads.dq.data != nullptr && !grads.dq.add) clear_rows(grads.dq, {row0, row0 + rows}, head.dim);
      return;
    }
    // dS wants the factor `scale`: dout brings it along, unless dS itself is wanted.
    const float factor = grads.dbias == nullptr ? head.scale : 1;
    scores.take_rows(row0, rows);
    const float* dout = grads.dout + row0 * grads.dout_stride;
    pack_transposed(dout, grads.dout_stride, rows, head.value_dim, factor, dout_t, columns);
    take_kept(head, grads, row0, rows, factor, kept);
    const Rows dout_padded = padded_rows(dout, grads.dout_stride, rows, head.value_dim, dout_rows);
    const Rows q_padded = padded_rows(head.q + row0 * head.q_stride, head.q_stride, rows, head.dim, q_rows);
    __builtin_memset(dq_sum, 0, sizeof(float) * static_cast<std::size_t>(rows * dim));
    for (std::int64_t key0 = seen.begin; key0 < seen.end; key0 += kKeyTile) {
      const Tile t = look(head.sight, row0, rows, key0, static_cast<int>(least(kKeyTile, seen.end - key0)));
      if (!t.skipped) tile(t, columns, q_padded, dout_padded);
    }
    if (grads.dq.data != nullptr) put_rows(grads.dq, row0, rows, head.dim, dq_sum, dim);
  }
};

}  // namespace

void dot_backward(const DotHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch) {
  DotBackward backward(head, grads, scratch);
  if (grads.dk.data != nullptr && !grads.dk.add) clear_rows(grads.dk, keys, head.dim);
  if (grads.dv.data != nullptr && !grads.dv.add) clear_rows(grads.dv, keys, head.value_dim);
  for (std::int64_t row0 = rows.begin; row0 < rows.end; row0 += kQueryTile) {
    backward.block(row0, static_cast<int>(least<std::int64_t>(kQueryTile, rows.end - row0)), keys);
  }
}

}  // namespace fovea::kernels::FOVEA_ISA
