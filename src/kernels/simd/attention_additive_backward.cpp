// The gradient of the additive family, t = tanh(a_i + b_j), tiles [keys, queries]:
//   P, dP, dS, dv as in the dot family with scale 1
//   da_i = w sum_j dS_ij (1 - t^2)   db_j = w sum_i dS_ij (1 - t^2)   dw = sum_ij dS_ij t
// tanh is what costs, so the t of a tile are kept from its scores to its gradients: tiles are one vector of queries by
// as many keys as leave the t in L2.
#include "kernels/simd/attention_additive-inl.hpp"
#include "kernels/simd/attention_backward-inl.hpp"
#include "kernels/simd/attention_kernels.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

constexpr int kKeptFloats = 32 << 10;

struct AdditiveBackward {
  const AdditiveHead& head;
  const AttentionGrads& grads;
  Carve carve;
  AdditiveScores scores;
  int dim, value_dim;  // whole vectors
  int tile_keys;
  std::int64_t t_stride;  // between the vectors of features; one vector more than needed, so that they do not all fall
                          // into the same set of the cache
  float* s;
  float* ds;
  float* keeps;
  float* memory;
  float* before;  // [keys, queries]: the scores that modifiers are given
  float* tanhs;   // [dim / kLanes, t_stride]
  float* dout_t;  // [value_dim, queries]
  float* dout_rows;
  float* dv_rows;
  float* da_sum;  // [queries, dim], without the factor w
  float* db_sum;  // [keys, dim], the same
  float* dw_sum;  // [dim]
  Kept kept;

  HWY_INLINE AdditiveBackward(const AdditiveHead& h, const AttentionGrads& g, float* scratch)
      : head(h), grads(g), carve{scratch}, scores(h, carve) {
    dim = whole_vectors(h.dim);
    value_dim = whole_vectors(h.value_dim);
    tile_keys = least(static_cast<int>(kKeyTile), most(1, kKeptFloats / (kLanes * dim)));
    t_stride = (tile_keys * kLanes + 1) * kLanes;
    s = carve.floats(kLanes * kKeyTile);
    ds = carve.floats(kLanes * kKeyTile);
    keeps = carve.floats(kLanes * kKeyTile);
    memory = carve.floats(kAdjustFloats);
    before = carve.floats(kLanes * kKeyTile);
    tanhs = carve.floats(t_stride * (dim / kLanes));
    dout_t = carve.floats(kLanes * h.value_dim);
    dout_rows = carve.floats(kLanes * value_dim);
    dv_rows = carve.floats(kKeyTile * value_dim);
    da_sum = carve.floats(kLanes * dim);
    db_sum = carve.floats(kKeyTile * dim);
    dw_sum = carve.floats(dim);
    kept = {carve.floats(kLanes), carve.floats(kLanes), carve.floats(kLanes)};
    __builtin_memset(dw_sum, 0, sizeof(float) * static_cast<std::size_t>(dim));
  }

  // da_sum, db_sum and dw_sum of one vector of features: queries by fours, their sums in registers.
  template <int kQueries>
  HWY_INLINE void features(const Tile& t, int d, int q) {
    const F f;
    const V one = hn::Set(f, 1.0F);
    const float* HWY_RESTRICT from = tanhs + d / kLanes * t_stride + q * kLanes;
    const float* HWY_RESTRICT u = ds + q;
    float* HWY_RESTRICT keys = db_sum + d;
    V da[kQueries];
    V dw[kQueries];
#pragma GCC unroll 4
    for (int r = 0; r < kQueries; ++r) {
      da[r] = hn::LoadU(f, da_sum + (q + r) * dim + d);
      dw[r] = hn::Zero(f);
    }
    for (int k = 0; k < t.keys; ++k) {
      V db = hn::LoadU(f, keys + k * dim);
#pragma GCC unroll 4
      for (int r = 0; r < kQueries; ++r) {
        const V x = hn::LoadU(f, from + (k * kLanes + r) * kLanes);
        const V by = hn::Set(f, u[k * kLanes + r]);
        const V slope = hn::NegMulAdd(x, x, one);
        da[r] = hn::MulAdd(by, slope, da[r]);
        db = hn::MulAdd(by, slope, db);
        dw[r] = hn::MulAdd(by, x, dw[r]);
      }
      hn::StoreU(db, f, keys + k * dim);
    }
    V sum = hn::LoadU(f, dw_sum + d);
#pragma GCC unroll 4
    for (int r = 0; r < kQueries; ++r) {
      hn::StoreU(da[r], f, da_sum + (q + r) * dim + d);
      sum = hn::Add(sum, dw[r]);
    }
    hn::StoreU(sum, f, dw_sum + d);
  }

  HWY_INLINE void all_features(const Tile& t) {
    for (int d = 0; d < dim; d += kLanes) {
      int q = 0;
      for (; q + 4 <= t.queries; q += 4) features<4>(t, d, q);
      for (; q < t.queries; ++q) features<1>(t, d, q);
    }
  }

  // What a hidden pair's t are must not matter: 0 * NaN.
  HWY_INLINE void forget_hidden(const Tile& t) {
    const F f;
    for (int k = 0; k < t.keys; ++k) {
      for (int q = 0; q < t.queries; ++q) {
        if (is_visible(head.visibility, t, k, q)) continue;
        for (int d = 0; d < dim; d += kLanes) {
          hn::StoreU(hn::Zero(f), f, tanhs + d / kLanes * t_stride + (k * kLanes + q) * kLanes);
        }
      }
    }
  }

  HWY_INLINE void add_dv(const Tile& t, bool hidden, const Rows& dout) {
    const float* rows = grads.dout + t.row0 * grads.dout_stride;
    if (hidden && !all_finite(rows, grads.dout_stride, t.queries, head.value_dim)) {
      for (int q = 0; q < t.queries; ++q) {
        for (int k = 0; k < t.keys; ++k) {
          if (!is_visible(head.visibility, t, k, q)) continue;
          add_scaled(grads.dv.data + (t.key0 + k) * grads.dv.stride, rows + q * grads.dout_stride, s[k * kLanes + q],
                     head.value_dim);
        }
      }
      return;
    }
    const GradTile to = borrow(grads.dv, t.key0, t.keys, head.value_dim, false, dv_rows);
    multiply({.m = t.keys,
              .n = value_dim,
              .k = t.queries,
              .a = s,
              .a_stride = kLanes,
              .b = dout.data,
              .b_stride = dout.stride,
              .c = to.data,
              .c_stride = to.stride,
              .add = true,
              .from = t.from,
              .to = t.to});
    give_back(to, grads.dv, t.key0, t.keys, head.value_dim);
  }

  HWY_INLINE void add_db(const Tile& t) {
    const F f;
    for (int k = 0; k < t.keys; ++k) {
      float* to = grads.dk.data + (t.key0 + k) * grads.dk.stride;
      const float* from = db_sum + k * dim;
      over_row(
          head.dim,
          [&](std::int64_t d) {
            hn::StoreU(hn::MulAdd(hn::LoadU(f, head.w + d), hn::LoadU(f, from + d), hn::LoadU(f, to + d)), f, to + d);
          },
          [&](std::int64_t d, auto mask) {
            const V sum =
                hn::MulAdd(load_first(mask, f, head.w + d), hn::LoadU(f, from + d), load_first(mask, f, to + d));
            store_first(sum, mask, f, to + d);
          });
    }
  }

  HWY_INLINE void tile(const Tile& t, const Rows& dout) {
    scores.tile<true>(t, s, kLanes, tanhs, t_stride);
    if (head.change) change_scores(head.change, t, s, kLanes, before);
    const bool hidden = t.adjusted && adjust(head.visibility, t, s, kLanes, memory);
    if (head.change && hidden) clear_hidden(s, before, static_cast<std::int64_t>(t.keys) * kLanes);
    if (hidden) forget_hidden(t);
    multiply_banded_columns({.m = t.keys,
                             .n = kLanes,
                             .k = static_cast<int>(head.value_dim),
                             .a = head.v + t.key0 * head.v_stride,
                             .a_stride = head.v_stride,
                             .b = dout_t,
                             .b_stride = kLanes,
                             .c = ds,
                             .c_stride = kLanes,
                             .from = t.from,
                             .to = t.to});
    const bool dropping = head.dropout.rate > 0;
    if (dropping) keep_factors(head.dropout, head.keys, t, keeps, kLanes);
    weights_and_ds(t, hidden, dropping ? keeps : nullptr, s, ds, kLanes, kept);
    if (grads.dbias != nullptr) add_dbias(grads, t, ds, kLanes);
    if (head.change) change_backward(head.change, t, before, ds, kLanes);
    if (grads.dv.data != nullptr) add_dv(t, hidden, dout);
    __builtin_memset(db_sum, 0, sizeof(float) * static_cast<std::size_t>(t.keys * dim));
    all_features(t);
    if (grads.dk.data != nullptr) add_db(t);
  }

  HWY_INLINE void block(std::int64_t row0, int rows, Range keys) {
    TileWalk walk(head.visibility, row0, rows, keys, tile_keys);
    if (!walk.more()) {
      if (grads.dq.data != nullptr && !grads.dq.add) clear_rows(grads.dq, {row0, row0 + rows}, head.dim);
      return;
    }
    const F f;
    scores.take_rows(row0, rows);
    const float* dout = grads.dout + row0 * grads.dout_stride;
    pack_transposed(dout, grads.dout_stride, rows, head.value_dim, 1, dout_t, kLanes);
    take_kept(head, grads, row0, rows, 1, kept);
    const Rows dout_padded = padded_rows(dout, grads.dout_stride, rows, head.value_dim, dout_rows);
    __builtin_memset(da_sum, 0, sizeof(float) * static_cast<std::size_t>(rows * dim));
    Tile t;
    while (walk.next(t)) tile(t, dout_padded);
    if (grads.dq.data == nullptr) return;
    for (int q = 0; q < rows; ++q) {
      float* sum = da_sum + q * dim;
      over_row(
          head.dim,
          [&](std::int64_t d) { hn::StoreU(hn::Mul(hn::LoadU(f, head.w + d), hn::LoadU(f, sum + d)), f, sum + d); },
          [&](std::int64_t d, auto mask) {
            hn::StoreU(hn::Mul(load_first(mask, f, head.w + d), hn::LoadU(f, sum + d)), f, sum + d);
          });
    }
    put_rows(grads.dq, row0, rows, head.dim, da_sum, dim);
  }
};

}  // namespace

void additive_backward(const AdditiveHead& head, const AttentionGrads& grads, Range rows, Range keys, float* scratch) {
  AdditiveBackward backward(head, grads, scratch);
  if (grads.dk.data != nullptr && !grads.dk.add) clear_rows(grads.dk, keys, head.dim);
  if (grads.dv.data != nullptr && !grads.dv.add) clear_rows(grads.dv, keys, head.value_dim);
  for (std::int64_t row0 = rows.begin; row0 < rows.end; row0 += kLanes) {
    backward.block(row0, static_cast<int>(least<std::int64_t>(kLanes, rows.end - row0)), keys);
  }
  if (grads.dw != nullptr) {
    for (std::int64_t d = 0; d < head.dim; ++d) grads.dw[d] += backward.dw_sum[d];
  }
}

}  // namespace fovea::kernels::FOVEA_ISA
