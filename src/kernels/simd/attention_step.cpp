#include "kernels/attention_step.hpp"

#include "kernels/simd/rows-inl.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

HWY_INLINE float total(Floats v) {
  return hn::GetLane(hn::SumOfLanes(F(), v));
}

// 1 / d within 2 ulp, for ordinary d.
HWY_INLINE Floats reciprocal(Floats d) {
#if defined(FOVEA_ISA_neon)  // whose estimate has eight bits
  return hn::Div(hn::Set(F(), 1.0F), d);
#else
  const Floats r = hn::ApproximateReciprocal(d);
  return hn::Mul(r, hn::NegMulAdd(d, r, hn::Set(F(), 2.0F)));
#endif
}

/// For each key the sum over i of term(lanes, i, q_i, k_ji), four keys at a time. A key's sum is one chain over i, the
/// same whichever keys it is computed with.
template <class Term>
HWY_INLINE void sums_over_keys(std::int64_t keys, std::int64_t dim, const float* q, const float* k, std::int64_t stride,
                               float* sums, const Term& term) {
  const Floats zero = hn::Zero(F());
  std::int64_t j = 0;
  for (; j + 4 <= keys; j += 4) {
    const float* row = k + j * stride;
    Floats a = zero;
    Floats b = zero;
    Floats c = zero;
    Floats d = zero;
    for_lanes(dim, [&](auto lanes, std::int64_t i) HWY_ATTR {
      const Floats x = lanes.load(q + i);
      a = term(lanes, i, x, lanes.load(row + i), a);
      b = term(lanes, i, x, lanes.load(row + stride + i), b);
      c = term(lanes, i, x, lanes.load(row + 2 * stride + i), c);
      d = term(lanes, i, x, lanes.load(row + 3 * stride + i), d);
    });
    sums[j] = total(a);
    sums[j + 1] = total(b);
    sums[j + 2] = total(c);
    sums[j + 3] = total(d);
  }
  for (; j < keys; ++j) {
    Floats a = zero;
    for_lanes(dim, [&](auto lanes, std::int64_t i)
                       HWY_ATTR { a = term(lanes, i, lanes.load(q + i), lanes.load(k + j * stride + i), a); });
    sums[j] = total(a);
  }
}

void additive(const AdditiveStep& step, float* scores) {
  const AdditiveStep s = step;
  if (s.coverage == nullptr) {
    sums_over_keys(s.keys, s.dim, s.q, s.k, s.k_stride, scores,
                   [&](auto lanes, std::int64_t i, Floats q, Floats k, Floats sum)
                       HWY_ATTR { return hn::MulAdd(lanes.load(s.v + i), Tanh(F(), hn::Add(q, k)), sum); });
    return;
  }
  for (std::int64_t j = 0; j < s.keys; ++j) {
    const Floats covered = hn::Set(F(), s.coverage[j]);
    sums_over_keys(1, s.dim, s.q, s.k + j * s.k_stride, s.k_stride, scores + j,
                   [&](auto lanes, std::int64_t i, Floats q, Floats k, Floats sum) HWY_ATTR {
                     const Floats x = hn::MulAdd(covered, lanes.load(s.coverage_weight + i), hn::Add(q, k));
                     return hn::MulAdd(lanes.load(s.v + i), Tanh(F(), x), sum);
                   });
  }
}

template <class Lanes>
HWY_INLINE void add_to(const Lanes& lanes, Floats v, float* p) {
  if (p != nullptr) lanes.store(hn::Add(lanes.load(p), v), p);
}

HWY_INLINE float* at(float* p, std::int64_t i) {
  return p == nullptr ? nullptr : p + i;
}

void additive_backward(const AdditiveStep& step, const AdditiveStepGrads& grads) {
  const AdditiveStep s = step;
  const AdditiveStepGrads g = grads;
  if (g.dq != nullptr) {
    for_lanes(s.dim, [&](auto lanes, std::int64_t i) HWY_ATTR { lanes.store(hn::Zero(F()), g.dq + i); });
  }
  for (std::int64_t j = 0; j < s.keys; ++j) {
    const Floats dscore = hn::Set(F(), g.dscores[j]);
    const Floats covered = hn::Set(F(), s.coverage == nullptr ? 0.0F : s.coverage[j]);
    const float* k = s.k + j * s.k_stride;
    float* dk = at(g.dk, j * s.k_stride);
    Floats dcovered = hn::Zero(F());
    for_lanes(s.dim, [&](auto lanes, std::int64_t i) HWY_ATTR {
      Floats x = hn::Add(lanes.load(s.q + i), lanes.load(k + i));
      const Floats c = s.coverage == nullptr ? hn::Zero(F()) : lanes.load(s.coverage_weight + i);
      const Floats t = Tanh(F(), hn::MulAdd(covered, c, x));
      const Floats d = hn::Mul(hn::Mul(dscore, lanes.load(s.v + i)), hn::NegMulAdd(t, t, hn::Set(F(), 1.0F)));
      add_to(lanes, d, at(g.dq, i));
      add_to(lanes, d, at(dk, i));
      add_to(lanes, hn::Mul(dscore, t), at(g.dv, i));
      add_to(lanes, hn::Mul(d, covered), at(g.dcoverage_weight, i));
      dcovered = hn::MulAdd(d, c, dcovered);
    });
    if (g.dcoverage != nullptr) g.dcoverage[j] = total(dcovered);
  }
}

void additive_exp(const AdditiveStep& step, float* scores) {
  const AdditiveStep s = step;
  const Floats one = hn::Set(F(), 1.0F);
  // sum v (1 - 2 r) = sum v - 2 sum v r
  sums_over_keys(s.keys, s.dim, s.q, s.k, s.k_stride, scores,
                 [&](auto lanes, std::int64_t i, Floats q, Floats k, Floats sum)
                     HWY_ATTR { return hn::MulAdd(lanes.load(s.v + i), reciprocal(hn::MulAdd(q, k, one)), sum); });
  Floats all = hn::Zero(F());
  for_lanes(s.dim, [&](auto lanes, std::int64_t i) HWY_ATTR { all = hn::Add(all, lanes.load(s.v + i)); });
  const float sum = total(all);
  for (std::int64_t j = 0; j < s.keys; ++j) scores[j] = sum - 2.0F * scores[j];
}

void additive_exp_backward(const AdditiveStep& step, const AdditiveStepGrads& grads) {
  const AdditiveStep s = step;
  const AdditiveStepGrads g = grads;
  const Floats one = hn::Set(F(), 1.0F);
  float sum = 0;
  for (std::int64_t j = 0; j < s.keys; ++j) sum += g.dscores[j];
  const Floats all = hn::Set(F(), sum);
  // With r = 1 / (1 + e^2(q + k)): t = 1 - 2 r, 1 - t^2 = 4 r (1 - r).
  for_lanes(s.dim, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats q = lanes.load(s.q + i);
    const Floats v = lanes.load(s.v + i);
    const Floats v4 = hn::Mul(v, hn::Set(F(), 4.0F));
    Floats dq = hn::Zero(F());
    Floats dv = hn::Zero(F());
    const float* k = s.k + i;
    float* dk = at(g.dk, i);
    for (std::int64_t j = 0; j < s.keys; ++j, k += s.k_stride) {
      const Floats r = reciprocal(hn::MulAdd(q, lanes.load(k), one));
      const Floats dr = hn::Mul(hn::Set(F(), g.dscores[j]), r);
      dv = hn::Add(dv, dr);
      const Floats d = hn::Mul(hn::NegMulAdd(dr, r, dr), v4);
      dq = hn::Add(dq, d);
      add_to(lanes, d, dk);
      dk = at(dk, s.k_stride);
    }
    if (g.dq != nullptr) lanes.store(dq, g.dq + i);
    add_to(lanes, hn::NegMulAdd(hn::Set(F(), 2.0F), dv, all), at(g.dv, i));
  });
}

float exp_twice(std::int64_t n, const float* x, float* y) {
  Floats most = hn::Zero(F());
  for_lanes(n, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats v = lanes.load(x + i);
    // A NaN compares false with everything, so it is taken, and then stays: nothing is above it.
    most = hn::IfThenElse(hn::Le(hn::Abs(v), most), most, hn::IfThenElse(hn::IsNaN(most), most, hn::Abs(v)));
    lanes.store(Exp(F(), hn::Add(v, v)), y + i);
  });
  if (!hn::AllFalse(F(), hn::IsNaN(most))) return __builtin_nanf("");
  return hn::GetLane(hn::MaxOfLanes(F(), most));
}

void dot(std::int64_t keys, std::int64_t dim, float scale, const float* q, const float* k, std::int64_t k_stride,
         float* scores) {
  sums_over_keys(keys, dim, q, k, k_stride, scores,
                 [](auto, std::int64_t, Floats x, Floats y, Floats sum) HWY_ATTR { return hn::MulAdd(x, y, sum); });
  for (std::int64_t j = 0; j < keys; ++j) scores[j] *= scale;
}

void weigh(std::int64_t keys, std::int64_t dim, const float* weights, const float* v, std::int64_t v_stride,
           float* out) {
  const F f;
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  std::int64_t i = 0;
  for (; i + 4 * L <= dim; i += 4 * L) {
    Floats a = hn::Zero(f);
    Floats b = a;
    Floats c = a;
    Floats d = a;
    const float* row = v + i;
    for (std::int64_t j = 0; j < keys; ++j, row += v_stride) {
      const Floats w = hn::Set(f, weights[j]);
      a = hn::MulAdd(w, hn::LoadU(f, row), a);
      b = hn::MulAdd(w, hn::LoadU(f, row + L), b);
      c = hn::MulAdd(w, hn::LoadU(f, row + 2 * L), c);
      d = hn::MulAdd(w, hn::LoadU(f, row + 3 * L), d);
    }
    hn::StoreU(a, f, out + i);
    hn::StoreU(b, f, out + i + L);
    hn::StoreU(c, f, out + i + 2 * L);
    hn::StoreU(d, f, out + i + 3 * L);
  }
  for_lanes(dim - i, [&](auto lanes, std::int64_t n) HWY_ATTR {
    Floats a = hn::Zero(f);
    const float* row = v + i + n;
    for (std::int64_t j = 0; j < keys; ++j, row += v_stride) {
      a = hn::MulAdd(hn::Set(f, weights[j]), lanes.load(row), a);
    }
    lanes.store(a, out + i + n);
  });
}

void softmax(std::int64_t keys, float* scores) {
  if (keys <= 0) return;
  float most = scores[0];
  for (std::int64_t j = 1; j < keys; ++j) most = scores[j] > most ? scores[j] : most;
  const Floats m = hn::Set(F(), most);
  for_lanes(keys, [&](auto lanes, std::int64_t j)
                      HWY_ATTR { lanes.store(ExpNeg(F(), hn::Sub(lanes.load(scores + j), m)), scores + j); });
  Floats sum = hn::Zero(F());  // the rest of a last vector loads as 0
  for_lanes(keys, [&](auto lanes, std::int64_t j) HWY_ATTR { sum = hn::Add(sum, lanes.load(scores + j)); });
  const Floats share = hn::Set(F(), 1.0F / total(sum));
  for_lanes(keys, [&](auto lanes, std::int64_t j)
                      HWY_ATTR { lanes.store(hn::Mul(lanes.load(scores + j), share), scores + j); });
}

// The j-th of rows at offsets or at even distances.
HWY_INLINE const float* row_at(const HeadsStep& s, const float* rows, std::int64_t j) {
  return rows + (s.offsets != nullptr ? s.offsets[j] : j * s.stride);
}

// Sums of neighbouring lanes: those of `low`, then those of `high`.
HWY_INLINE Floats neighbours(Floats low, Floats high) {
  return hn::Add(hn::ConcatEven(F(), high, low), hn::ConcatOdd(F(), high, low));
}

// The sum of each of N vectors, in their order, in the first lanes: a third of the work of summing them one by one.
// Halved is how often the lanes of a vector have been added already. Loops are over constants, so that all stays in
// registers.
template <std::size_t Halved, std::size_t N>
HWY_INLINE Floats totals(const Floats (&v)[N]) {
  constexpr std::size_t kLeft = N > 1 ? N / 2 : 1;
  Floats sums[kLeft];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLeft; ++i) sums[i] = neighbours(v[2 * i % N], v[(2 * i + 1) % N]);
  if constexpr ((kLanes >> (Halved + 1)) > 1) return totals<Halved + 1>(sums);
  return sums[0];
}

// A query times N keys of its head.
template <std::size_t N>
HWY_INLINE Floats products(std::int64_t dim, const float* q, const float* const* keys, std::int64_t offset) {
  Floats sums[N];
#pragma GCC unroll 16
  for (std::size_t n = 0; n < N; ++n) sums[n] = hn::Zero(F());
  for_lanes(dim, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats x = lanes.load(q + i);
#pragma GCC unroll 16
    for (std::size_t n = 0; n < N; ++n) sums[n] = hn::MulAdd(x, lanes.load(keys[n] + offset + i), sums[n]);
  });
  return totals<0>(sums);
}

// Scores beyond it are taken less their maximum before exponentials are formed, as softmax() does; others need no
// maximum, for which everything would have to wait.
constexpr float kOrdinaryScore = 40.0F;

// The exponentials of all scores, into weights. False, and then the scores themselves, where they are not ordinary.
[[gnu::noinline]] bool exponentials(const HeadsStep& s, bool ordinary) {
  const F f;
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  const Floats scale = hn::Set(f, s.scale);
  const Floats most = hn::Set(f, kOrdinaryScore);
  auto within = hn::Eq(scale, scale);
  for (std::int64_t j = 0; j < s.keys; j += L) {
    const std::int64_t count = s.keys - j < L ? s.keys - j : L;
    const float* rows[kLanes];  // beyond `count`, the last key again
    for (std::int64_t n = 0; n < L; ++n) rows[n] = row_at(s, s.k, j + (n < count ? n : count - 1));
    for (std::int64_t n = 0; n < count && s.offsets != nullptr; ++n) {  // values come after all keys, and from as far
      const float* v = row_at(s, s.v, j + n);
      for (std::int64_t i = 0; i < s.heads * s.dim; i += 16) __builtin_prefetch(v + i);
    }
    for (std::int64_t h = 0; h < s.heads; ++h) {
      const float* q = s.q + h * s.dim;
      Floats scores =
          2 * count > L ? products<kLanes>(s.dim, q, rows, h * s.dim) : products<kLanes / 2>(s.dim, q, rows, h * s.dim);
      scores = hn::Mul(scale, scores);
      if (s.bias != nullptr) {
        const float* bias = s.bias + h * s.keys + j;
        for_lanes(count, [&](auto lanes, std::int64_t) HWY_ATTR { scores = hn::Add(scores, lanes.load(bias)); });
      }
      if (ordinary) {
        within = hn::And(within, hn::Le(hn::Abs(scores), most));
        scores = vector_math::ExpNotLarge<false>(f, scores, scores);
      }
      for_lanes(count, [&](auto lanes, std::int64_t) HWY_ATTR { lanes.store(scores, s.weights + h * s.keys + j); });
    }
  }
  return hn::AllTrue(f, within);
}

// N vectors of the output from column i on: the weighted sum of the values over the sum of the weights.
template <std::size_t N>
HWY_INLINE void weighted_values(const HeadsStep& s, std::int64_t i) {
  const F f;
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  const float* weights[N];
  Floats sums[N];
  Floats totals[N];
#pragma GCC unroll 8
  for (std::size_t n = 0; n < N; ++n) {
    weights[n] = s.weights + (i + static_cast<std::int64_t>(n) * L) / s.dim * s.keys;
    sums[n] = totals[n] = hn::Zero(f);
  }
  for (std::int64_t j = 0; j < s.keys; ++j) {
    const float* v = row_at(s, s.v, j) + i;
#pragma GCC unroll 8
    for (std::size_t n = 0; n < N; ++n) {
      const Floats weight = hn::Set(f, weights[n][j]);
      sums[n] = hn::MulAdd(weight, hn::LoadU(f, v + n * kLanes), sums[n]);
      totals[n] = hn::Add(totals[n], weight);
    }
  }
#pragma GCC unroll 8
  for (std::size_t n = 0; n < N; ++n) hn::StoreU(hn::Div(sums[n], totals[n]), f, s.out + i + n * kLanes);
}

void attend_heads(const HeadsStep& step) {
  const HeadsStep s = step;
  const F f;
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  constexpr std::size_t kTogether = kLanes == 16 ? 8 : 4;  // vectors whose sums stay in registers
  const std::int64_t width = s.heads * s.dim;
  if (s.keys <= 0) {
    for (std::int64_t i = 0; i < width; ++i) s.out[i] = 0;
    return;
  }
  if (!exponentials(s, true)) {
    (void)exponentials(s, false);
    for (std::int64_t h = 0; h < s.heads; ++h) softmax(s.keys, s.weights + h * s.keys);
  }
  if (s.dim % L == 0) {
    std::int64_t i = 0;
    for (; i + static_cast<std::int64_t>(kTogether) * L <= width; i += static_cast<std::int64_t>(kTogether) * L) {
      weighted_values<kTogether>(s, i);
    }
    for (; i < width; i += L) weighted_values<1>(s, i);
  }
  for (std::int64_t h = 0; h < s.heads; ++h) {
    float* w = s.weights + h * s.keys;
    if (s.dim % L == 0 && !s.want_weights) break;
    float total = 0;
    for (std::int64_t j = 0; j < s.keys; ++j) total += w[j];
    const Floats sum = hn::Set(f, total);
    for_lanes(s.keys,
              [&](auto lanes, std::int64_t j) HWY_ATTR { lanes.store(hn::Div(lanes.load(w + j), sum), w + j); });
    if (s.dim % L == 0) continue;
    for_lanes(s.dim, [&](auto lanes, std::int64_t i) HWY_ATTR {
      Floats a = hn::Zero(f);
      for (std::int64_t j = 0; j < s.keys; ++j) {
        a = hn::MulAdd(hn::Set(f, w[j]), lanes.load(row_at(s, s.v, j) + h * s.dim + i), a);
      }
      lanes.store(a, s.out + h * s.dim + i);
    });
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

}  // namespace fovea::kernels::FOVEA_ISA
