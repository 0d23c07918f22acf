#include "kernels/simd/random-inl.hpp"
#include "kernels/simd/reduce-inl.hpp"
#include "kernels/simd/row_functions.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// h = x + dropout(residual) for the row whose first value has number `first`.
HWY_INLINE void add_residual(const DropoutMask& mask, bool dropping, std::int64_t first, const float* x,
                             const float* residual, float* h, std::int64_t width) {
  if (!dropping) {
    for_lanes(width, [&](const auto& lanes, std::int64_t i)
                         HWY_ATTR { lanes.store(hn::Add(lanes.load(x + i), lanes.load(residual + i)), h + i); });
    return;
  }
  const Floats scale = hn::Set(F(), mask.scale());
  for_lanes(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
    const Floats kept = hn::IfThenZeroElse(mask.dropped(F(), first + i), scale);
    lanes.store(hn::MulAdd(lanes.load(residual + i), kept, lanes.load(x + i)), h + i);
  });
}

template <bool kAdd>
void gradient(const LayerNormBackward& n) {
  const F f;
  const Floats one = hn::Set(f, 1.0F);
  const float share = 1 / static_cast<float>(n.width);
  for (std::int64_t r = 0; r < n.rows; ++r) {
    const float* x = n.x + r * n.width;
    const float* dy = n.dy + r * n.width;
    float* dx = n.dx + r * n.width;
    const Floats mean = hn::Set(f, n.mean[r]);
    const Floats rstd = hn::Set(f, n.rstd[r]);
    Floats dot = hn::Zero(f);
    Floats dot2 = dot;
    const float sum = sum_over(n.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      const Floats d = lanes.load(dy + i);
      const Floats standard = hn::Mul(hn::Sub(lanes.load(x + i), mean), rstd);
      const Floats g = n.gamma != nullptr ? hn::Mul(d, lanes.load(n.gamma + i)) : d;
      // Lanes beyond the row hold d = 0. Two accumulators by turns.
      const Floats next = hn::MulAdd(g, standard, dot);
      dot = dot2;
      dot2 = next;
      if (n.dgamma != nullptr) lanes.store(hn::MulAdd(d, standard, lanes.load(n.dgamma + i)), n.dgamma + i);
      if (n.dbeta != nullptr) lanes.store(hn::Add(d, lanes.load(n.dbeta + i)), n.dbeta + i);
      return g;
    });
    const Floats center = hn::Set(f, sum * share);
    const Floats along = hn::Set(f, hn::GetLane(hn::SumOfLanes(f, hn::Add(dot, dot2))) * share);
    for_lanes(n.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      const Floats standard = hn::Mul(hn::Sub(lanes.load(x + i), mean), rstd);
      const Floats g = hn::Mul(lanes.load(dy + i), n.gamma != nullptr ? lanes.load(n.gamma + i) : one);
      put<kAdd>(lanes, hn::Mul(rstd, hn::NegMulAdd(standard, along, hn::Sub(g, center))), dx + i);
    });
  }
}

}  // namespace

void layer_norm(const LayerNorm& n) {
  const F f;
  const DropoutMask mask(n.dropout);
  const float share = 1 / static_cast<float>(n.width);
  for (std::int64_t r = 0; r < n.rows; ++r) {
    const float* x = n.x + r * n.width;
    if (n.residual != nullptr) {
      float* h = n.h + r * n.width;
      add_residual(mask, n.dropout.rate > 0, r * n.width, x, n.residual + r * n.width, h, n.width);
      x = h;
    }
    const float mean =
        sum_over(n.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR { return lanes.load(x + i); }) * share;
    const Floats center = hn::Set(f, mean);
    const float squares = sum_over(n.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      const Floats v = hn::Sub(lanes.load(x + i), center);
      return hn::Mul(v, v);
    });
    const float rstd = 1 / __builtin_sqrtf(squares * share + n.epsilon);
    n.mean[r] = mean;
    n.rstd[r] = rstd;
    const Floats scale = hn::Set(f, rstd);
    float* y = n.y + r * n.width;
    for_lanes(n.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      Floats v = hn::Mul(hn::Sub(lanes.load(x + i), center), scale);
      if (n.gamma != nullptr) v = hn::Mul(v, lanes.load(n.gamma + i));
      if (n.beta != nullptr) v = hn::Add(v, lanes.load(n.beta + i));
      lanes.store(v, y + i);
    });
  }
}

void layer_norm_backward(const LayerNormBackward& n) {
  n.add ? gradient<true>(n) : gradient<false>(n);
}

}  // namespace fovea::kernels::FOVEA_ISA
