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
  float* before;  // [keys, queries]: the scores that modifiers are given
  float* dout_t;  // [value_dim, queries]
  float* q_rows;  // padded copies, where widths are not whole vectors
  float* dout_rows;
  float* k_rows;
  float* v_rows;  // for borrow()
  float* dq_memory;
  GradTile dq_sum{};  // [queries, dim]: dq itself where it is written over and whole vectors fit
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
    before = carve.floats(kQueryTile * kKeyTile);
    dout_t = carve.floats(h.value_dim * kQueryTile);
    q_rows = carve.floats(dim * kQueryTile);
    dout_rows = carve.floats(value_dim * kQueryTile);
    k_rows = carve.floats(most(dim, value_dim) * kKeyTile);
    v_rows = carve.floats(most(dim, value_dim) * kKeyTile);
    dq_memory = carve.floats(dim * kQueryTile);
    kept = {carve.floats(kQueryTile), carve.floats(kQueryTile), carve.floats(kQueryTile)};
  }

  // The products pair by pair, for a tile that hides some pairs and whose rows are not all finite.
  HWY_INLINE void add_seen_pairs(const Tile& t, int stride, bool fresh_keys, bool fresh_queries) {
    if (fresh_keys) clear_keys({t.key0, t.key0 + t.keys});
    if (fresh_queries) clear_rows({dq_sum.data, dq_sum.stride, false}, {0, t.queries}, head.dim);
    for (int b = 0; b < t.queries; ++b) {
      const std::int64_t i = t.row0 + b;
      for (int a = 0; a < t.keys; ++a) {
        if (!is_visible(head.visibility, t, a, b)) continue;
        const std::int64_t j = t.key0 + a;
        const float p = s[a * stride + b];
        const float d = ds[a * stride + b];
        if (grads.dv.data != nullptr) {
          add_scaled(grads.dv.data + j * grads.dv.stride, grads.dout + i * grads.dout_stride, p, head.value_dim);
        }
        if (grads.dk.data != nullptr) {
          add_scaled(grads.dk.data + j * grads.dk.stride, head.q + i * head.q_stride, d, head.dim);
        }
        if (grads.dq.data != nullptr) {
          add_scaled(dq_sum.data + b * dq_sum.stride, head.k + j * head.k_stride, d, head.dim);
        }
      }
    }
  }

  HWY_INLINE bool tile_is_finite(const Tile& t) {
    return all_finite(head.v + t.key0 * head.v_stride, head.v_stride, t.keys, head.value_dim) &&
           all_finite(head.k + t.key0 * head.k_stride, head.k_stride, t.keys, head.dim) &&
           all_finite(head.q + t.row0 * head.q_stride, head.q_stride, t.queries, head.dim) &&
           all_finite(grads.dout + t.row0 * grads.dout_stride, grads.dout_stride, t.queries, head.value_dim);
  }

  HWY_INLINE void clear_keys(Range keys) {
    if (grads.dk.data != nullptr && !grads.dk.add) clear_rows(grads.dk, keys, head.dim);
    if (grads.dv.data != nullptr && !grads.dv.add) clear_rows(grads.dv, keys, head.value_dim);
  }

  // Whether dS itself is wanted, and not only scale * dS.
  HWY_INLINE bool wants_ds() const { return grads.dbias != nullptr || head.change; }

  // fresh_keys: nothing has been added to this tile's dk and dv yet; fresh_queries: the same of dq_sum.
  HWY_INLINE void tile(const Tile& t, int columns, const Rows& q, const Rows& dout, bool fresh_keys,
                       bool fresh_queries) {
    const int dim = whole_vectors(head.dim);
    const int value_dim = whole_vectors(head.value_dim);
    scores.tile(t, s, columns);
    if (head.change) change_scores(head.change, t, s, columns, before);
    const bool hidden = t.adjusted && adjust(head.visibility, t, s, columns, memory);
    if (head.change && hidden) clear_hidden(s, before, static_cast<std::int64_t>(t.keys) * columns);
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
    if (dropping) keep_factors(head.dropout, head.keys, t, keeps, columns);
    weights_and_ds(t, hidden, dropping ? keeps : nullptr, s, ds, columns, kept);
    if (grads.dbias != nullptr) add_dbias(grads, t, ds, columns);
    if (head.change) change_backward(head.change, t, before, ds, columns);
    if (wants_ds()) scale_tile(ds, t.keys, columns, head.scale);
    if (hidden && !tile_is_finite(t)) {
      add_seen_pairs(t, columns, fresh_keys, fresh_queries);
      return;
    }
    if (grads.dv.data != nullptr) {
      const bool fresh = fresh_keys && !grads.dv.add;
      const GradTile to = borrow(grads.dv, t.key0, t.keys, head.value_dim, fresh, v_rows);
      multiply({.m = t.keys,
                .n = value_dim,
                .k = t.queries,
                .a = s,
                .a_stride = columns,
                .b = dout.data,
                .b_stride = dout.stride,
                .c = to.data,
                .c_stride = to.stride,
                .add = !fresh,
                .from = t.from,
                .to = t.to});
      give_back(to, grads.dv, t.key0, t.keys, head.value_dim);
    }
    if (grads.dk.data != nullptr) {
      const bool fresh = fresh_keys && !grads.dk.add;
      const GradTile to = borrow(grads.dk, t.key0, t.keys, head.dim, fresh, v_rows);
      multiply({.m = t.keys,
                .n = dim,
                .k = t.queries,
                .a = ds,
                .a_stride = columns,
                .b = q.data,
                .b_stride = q.stride,
                .c = to.data,
                .c_stride = to.stride,
                .add = !fresh,
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
                           .c = dq_sum.data,
                           .c_stride = dq_sum.stride,
                           .add = !fresh_queries,
                           .from = -t.to,
                           .to = -t.from});
    }
  }

  HWY_INLINE void block(std::int64_t row0, int rows, Range keys, bool fresh_keys) {
    const int columns = whole_vectors(rows);
    const int dim = whole_vectors(head.dim);
    TileWalk walk(head.visibility, row0, rows, keys);
    const bool direct = grads.dq.data != nullptr && !grads.dq.add && head.dim % kLanes == 0;
    dq_sum = direct ? GradTile{grads.dq.data + row0 * grads.dq.stride, grads.dq.stride} : GradTile{dq_memory, dim};
    bool fresh_queries = true;
    std::int64_t cleared = keys.begin;  // the keys up to here have their dk and dv
    if (walk.more()) {
      // dS wants the factor `scale`: dout brings it along, unless dS itself is wanted.
      const float factor = wants_ds() ? 1 : head.scale;
      scores.take_rows(row0, rows);
      const float* dout = grads.dout + row0 * grads.dout_stride;
      pack_transposed(dout, grads.dout_stride, rows, head.value_dim, factor, dout_t, columns);
      take_kept(head, grads, row0, rows, factor, kept);
      const Rows dout_padded = padded_rows(dout, grads.dout_stride, rows, head.value_dim, dout_rows);
      const Rows q_padded = padded_rows(head.q + row0 * head.q_stride, head.q_stride, rows, head.dim, q_rows);
      Tile t;
      while (walk.next(t)) {
        if (fresh_keys) clear_keys({cleared, t.key0});
        tile(t, columns, q_padded, dout_padded, fresh_keys, fresh_queries);
        cleared = t.key0 + t.keys;
        fresh_queries = false;
      }
    }
    if (fresh_keys) clear_keys({cleared, keys.end});
    if (grads.dq.data == nullptr) return;
    if (fresh_queries) {
      if (!grads.dq.add) clear_rows(grads.dq, {row0, row0 + rows}, head.dim);
    } else if (!direct) {
      put_rows(grads.dq, row0, rows, head.dim, dq_memory, dim);
    }
  }
};

}  // namespace

void dot_backward(const DotHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch) {
  DotBackward backward(head, grads, scratch);
  for (std::int64_t row0 = rows.begin; row0 < rows.end; row0 += kQueryTile) {
    const int count = static_cast<int>(least<std::int64_t>(kQueryTile, rows.end - row0));
    backward.block(row0, count, keys, row0 == rows.begin);
  }
}

}  // namespace fovea::kernels::FOVEA_ISA
