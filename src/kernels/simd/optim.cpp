#include "kernels/optim.hpp"

#include "kernels/simd/rows-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

HWY_INLINE Floats mix(Floats keep, Floats take, Floats old, Floats fresh) {
  return hn::MulAdd(keep, old, hn::Mul(take, fresh));
}

void average(float a, const float* w, float* mean, std::int64_t n) {
  const Floats keep = hn::Set(F(), a);
  const Floats take = hn::Set(F(), 1 - a);
  for_lanes(n, [&](const auto& lanes, std::int64_t i)
                   HWY_ATTR { lanes.store(mix(keep, take, lanes.load(mean + i), lanes.load(w + i)), mean + i); });
}

template <bool kMean>
void step(const AdamStep& s, const float* g, float* m, float* v, float* w, float* mean, std::int64_t n) {
  const F f;
  const Floats factor = hn::Set(f, s.factor);
  const Floats keep1 = hn::Set(f, s.beta1);
  const Floats take1 = hn::Set(f, 1 - s.beta1);
  const Floats keep2 = hn::Set(f, s.beta2);
  const Floats take2 = hn::Set(f, 1 - s.beta2);
  const Floats speed = hn::Set(f, s.speed);
  const Floats epsilon = hn::Set(f, s.epsilon);
  const Floats shrink = hn::Set(f, s.shrink);
  const Floats keep = hn::Set(f, s.average);
  const Floats take = hn::Set(f, 1 - s.average);
  for_lanes(n, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
    const Floats x = hn::Mul(factor, lanes.load(g + i));
    const Floats first = mix(keep1, take1, lanes.load(m + i), x);
    const Floats second = mix(keep2, take2, lanes.load(v + i), hn::Mul(x, x));
    lanes.store(first, m + i);
    lanes.store(second, v + i);
    const Floats change = hn::Div(hn::Mul(speed, first), hn::Add(hn::Sqrt(second), epsilon));
    const Floats weight = hn::MulSub(shrink, lanes.load(w + i), change);
    lanes.store(weight, w + i);
    if constexpr (kMean) lanes.store(mix(keep, take, lanes.load(mean + i), weight), mean + i);
  });
}

void adam(const AdamStep& s, const float* g, float* m, float* v, float* w, float* mean, std::int64_t n) {
  mean != nullptr ? step<true>(s, g, m, v, w, mean, n) : step<false>(s, g, m, v, w, mean, n);
}

double sum_of_squares(const float* x, std::int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;  // as many floats as a vector has doubles
  constexpr auto kHalf = static_cast<std::int64_t>(kLanes / 2);
  auto a = hn::Zero(d);
  auto b = a;
  auto c = a;
  auto e = a;
  const auto square = [&](std::int64_t i, decltype(a) sum) HWY_ATTR {
    const auto v = hn::PromoteTo(d, hn::LoadU(half, x + i));
    return hn::MulAdd(v, v, sum);
  };
  std::int64_t i = 0;
  for (; i + 4 * kHalf <= n; i += 4 * kHalf) {
    a = square(i, a);
    b = square(i + kHalf, b);
    c = square(i + 2 * kHalf, c);
    e = square(i + 3 * kHalf, e);
  }
  for (; i + kHalf <= n; i += kHalf) a = square(i, a);
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace

extern const OptimKernels optim;
const OptimKernels optim = {.adam = adam, .sum_of_squares = sum_of_squares, .average = average};

}  // namespace fovea::kernels::FOVEA_ISA
