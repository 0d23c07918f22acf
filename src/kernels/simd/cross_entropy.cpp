#include "kernels/cross_entropy.hpp"

#include "kernels/simd/rows-inl.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

constexpr std::int64_t kStep = static_cast<std::int64_t>(kLanes);

void exp_slice(float* x, std::int64_t n, float* max, float* sum, float* total) {
  const F f;
  const Floats lowest = hn::Set(f, -__builtin_inff());
  // Four of each, so that their latencies overlap.
  Floats m0 = lowest, m1 = lowest, m2 = lowest, m3 = lowest;
  Floats t0 = hn::Zero(f), t1 = t0, t2 = t0, t3 = t0;
  std::int64_t j = 0;
  for (; j + 4 * kStep <= n; j += 4 * kStep) {
    const Floats v0 = hn::LoadU(f, x + j), v1 = hn::LoadU(f, x + j + kStep);
    const Floats v2 = hn::LoadU(f, x + j + 2 * kStep), v3 = hn::LoadU(f, x + j + 3 * kStep);
    m0 = hn::Max(m0, v0), m1 = hn::Max(m1, v1), m2 = hn::Max(m2, v2), m3 = hn::Max(m3, v3);
    t0 = hn::Add(t0, v0), t1 = hn::Add(t1, v1), t2 = hn::Add(t2, v2), t3 = hn::Add(t3, v3);
  }
  for (; j < n; j += kStep) {
    const auto mask = hn::FirstN(f, static_cast<std::size_t>(n - j < kStep ? n - j : kStep));
    const Floats v = load_first(mask, f, x + j);
    m0 = hn::Max(m0, hn::IfThenElse(mask, v, lowest));
    t0 = hn::Add(t0, v);
  }
  const Floats largest = hn::MaxOfLanes(f, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)));
  *total = hn::GetLane(hn::SumOfLanes(f, hn::Add(hn::Add(t0, t1), hn::Add(t2, t3))));
  *max = hn::GetLane(largest);

  Floats s0 = hn::Zero(f), s1 = s0, s2 = s0, s3 = s0;
  for (j = 0; j + 4 * kStep <= n; j += 4 * kStep) {
    const Floats e0 = ExpNeg(f, hn::Sub(hn::LoadU(f, x + j), largest));
    const Floats e1 = ExpNeg(f, hn::Sub(hn::LoadU(f, x + j + kStep), largest));
    const Floats e2 = ExpNeg(f, hn::Sub(hn::LoadU(f, x + j + 2 * kStep), largest));
    const Floats e3 = ExpNeg(f, hn::Sub(hn::LoadU(f, x + j + 3 * kStep), largest));
    s0 = hn::Add(s0, e0), s1 = hn::Add(s1, e1), s2 = hn::Add(s2, e2), s3 = hn::Add(s3, e3);
    hn::StoreU(e0, f, x + j);
    hn::StoreU(e1, f, x + j + kStep);
    hn::StoreU(e2, f, x + j + 2 * kStep);
    hn::StoreU(e3, f, x + j + 3 * kStep);
  }
  for (; j < n; j += kStep) {
    const auto mask = hn::FirstN(f, static_cast<std::size_t>(n - j < kStep ? n - j : kStep));
    const Floats e = ExpNeg(f, hn::Sub(load_first(mask, f, x + j), largest));
    s0 = hn::Add(s0, hn::IfThenElseZero(mask, e));
    store_first(e, mask, f, x + j);
  }
  *sum = hn::GetLane(hn::SumOfLanes(f, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

void gradient_rows(std::int64_t rows, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                   float* column_sums) {
  const F f;
  const Floats minus = hn::Set(f, shift);
  std::int64_t i = 0;
  // Four rows at a time: a quarter of the traffic on column_sums.
  for (; i + 4 <= rows; i += 4, x += 4 * ldx) {
    const Floats f0 = hn::Set(f, factor[i]), f1 = hn::Set(f, factor[i + 1]);
    const Floats f2 = hn::Set(f, factor[i + 2]), f3 = hn::Set(f, factor[i + 3]);
    for_lanes(n, [&](const auto lanes, std::int64_t j) HWY_ATTR {
      const Floats v0 = hn::MulSub(lanes.load(x + j), f0, minus);
      const Floats v1 = hn::MulSub(lanes.load(x + ldx + j), f1, minus);
      const Floats v2 = hn::MulSub(lanes.load(x + 2 * ldx + j), f2, minus);
      const Floats v3 = hn::MulSub(lanes.load(x + 3 * ldx + j), f3, minus);
      lanes.store(v0, x + j);
      lanes.store(v1, x + ldx + j);
      lanes.store(v2, x + 2 * ldx + j);
      lanes.store(v3, x + 3 * ldx + j);
      if (column_sums != nullptr) {
        const Floats sum = hn::Add(hn::Add(v0, v1), hn::Add(v2, v3));
        lanes.store(hn::Add(lanes.load(column_sums + j), sum), column_sums + j);
      }
    });
  }
  for (; i < rows; ++i, x += ldx) {
    const Floats f0 = hn::Set(f, factor[i]);
    for_lanes(n, [&](const auto lanes, std::int64_t j) HWY_ATTR {
      const Floats v = hn::MulSub(lanes.load(x + j), f0, minus);
      lanes.store(v, x + j);
      if (column_sums != nullptr) lanes.store(hn::Add(lanes.load(column_sums + j), v), column_sums + j);
    });
  }
}

void exp_pair(float* a, float* b, std::int64_t n, float* max, float* sum, float* total, float* apart, float* weighted) {
  for_lanes(n, [&](const auto lanes, std::int64_t j)
                   HWY_ATTR { lanes.store(hn::Sub(lanes.load(a + j), lanes.load(b + j)), apart + j); });
  exp_slice(a, n, max, sum, total);
  exp_slice(b, n, max + 1, sum + 1, total + 1);
  const F f;
  Floats of_a = hn::Zero(f), of_b = of_a;
  for_lanes(n, [&](const auto lanes, std::int64_t j) HWY_ATTR {
    const Floats d = lanes.load(apart + j);
    of_a = hn::MulAdd(lanes.load(a + j), d, of_a);
    of_b = hn::MulAdd(lanes.load(b + j), d, of_b);
  });
  weighted[0] = hn::GetLane(hn::SumOfLanes(f, of_a));
  weighted[1] = hn::GetLane(hn::SumOfLanes(f, of_b));
}

// dz_a = p (1 + w (log p/q - KL(p, q) + 1)) - w q - shift, dz_b the other way round
void gradient_pairs(std::int64_t pairs, std::int64_t n, float* x, std::int64_t ldx, const float* factor, float shift,
                    const PairTerms* terms, const float* apart, std::int64_t apart_stride, float* column_sums) {
  const F f;
  const Floats minus = hn::Set(f, shift);
  for (std::int64_t i = 0; i < pairs; ++i, x += 2 * ldx, apart += apart_stride) {
    const PairTerms& t = terms[i];
    const Floats fa = hn::Set(f, factor[2 * i]), fb = hn::Set(f, factor[2 * i + 1]);
    const Floats w = hn::Set(f, t.weight);
    const Floats ca = hn::Set(f, 1 + t.weight * (t.offset - t.kl_a + 1));
    const Floats cb = hn::Set(f, 1 + t.weight * (-t.offset - t.kl_b + 1));
    for_lanes(n, [&](const auto lanes, std::int64_t j) HWY_ATTR {
      const Floats p = hn::Mul(lanes.load(x + j), fa);
      const Floats q = hn::Mul(lanes.load(x + ldx + j), fb);
      const Floats d = hn::Mul(w, lanes.load(apart + j));
      const Floats ga = hn::MulSub(p, hn::Add(ca, d), hn::MulAdd(w, q, minus));
      const Floats gb = hn::MulSub(q, hn::Sub(cb, d), hn::MulAdd(w, p, minus));
      lanes.store(ga, x + j);
      lanes.store(gb, x + ldx + j);
      if (column_sums != nullptr) {
        lanes.store(hn::Add(lanes.load(column_sums + j), hn::Add(ga, gb)), column_sums + j);
      }
    });
  }
}

}  // namespace

extern const CrossEntropyKernels cross_entropy;
const CrossEntropyKernels cross_entropy = {
    .exp_slice = exp_slice, .gradient_rows = gradient_rows, .exp_pair = exp_pair, .gradient_pairs = gradient_pairs};

}  // namespace fovea::kernels::FOVEA_ISA
