#include "kernels/rows.hpp"

#include "kernels/simd/reduce-inl.hpp"
#include "kernels/simd/row_functions.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

void add_bias(const float* x, const float* bias, float* y, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    for_lanes(width, [&](const auto& lanes, std::int64_t i)
                         HWY_ATTR { lanes.store(hn::Add(lanes.load(x + i), lanes.load(bias + i)), y + i); });
  }
}

void mul_bias(const float* x, const float* factor, float* y, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    for_lanes(width, [&](const auto& lanes, std::int64_t i)
                         HWY_ATTR { lanes.store(hn::Mul(lanes.load(x + i), lanes.load(factor + i)), y + i); });
  }
}

// sums[i] = sums[i] + body(0, i) + body(1, i) + …, four vectors of columns at a time with the sums in registers.
template <class Body>
HWY_INLINE void over_rows(float* sums, std::int64_t rows, std::int64_t width, const Body& body) {
  constexpr auto kStep = static_cast<std::int64_t>(kLanes);
  const F f;
  const WholeLanes whole;
  std::int64_t i = 0;
  for (; i + 4 * kStep <= width; i += 4 * kStep) {
    Floats a = hn::LoadU(f, sums + i);
    Floats b = hn::LoadU(f, sums + i + kStep);
    Floats c = hn::LoadU(f, sums + i + 2 * kStep);
    Floats e = hn::LoadU(f, sums + i + 3 * kStep);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t at = r * width + i;
      a = body(whole, at, a);
      b = body(whole, at + kStep, b);
      c = body(whole, at + 2 * kStep, c);
      e = body(whole, at + 3 * kStep, e);
    }
    hn::StoreU(a, f, sums + i);
    hn::StoreU(b, f, sums + i + kStep);
    hn::StoreU(c, f, sums + i + 2 * kStep);
    hn::StoreU(e, f, sums + i + 3 * kStep);
  }
  for_lanes(width - i, [&](const auto& lanes, std::int64_t k) HWY_ATTR {
    Floats a = lanes.load(sums + i + k);
    for (std::int64_t r = 0; r < rows; ++r) a = body(lanes, r * width + i + k, a);
    lanes.store(a, sums + i + k);
  });
}

void column_sums(const float* x, float* sums, std::int64_t rows, std::int64_t width) {
  over_rows(sums, rows, width,
            [x](const auto& lanes, std::int64_t at, Floats sum) HWY_ATTR { return hn::Add(sum, lanes.load(x + at)); });
}

void column_dots(const float* a, const float* b, float* sums, std::int64_t rows, std::int64_t width) {
  over_rows(sums, rows, width, [a, b](const auto& lanes, std::int64_t at, Floats sum) HWY_ATTR {
    return hn::MulAdd(lanes.load(a + at), lanes.load(b + at), sum);
  });
}

void row_sums(const float* x, float* sums, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, x += width) {
    sums[r] = sum_over(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR { return lanes.load(x + i); });
  }
}

void column_max(const float* x, float* y, float* index, std::int64_t rows, std::int64_t width) {
  for_lanes(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
    Floats top = lanes.load(x + i);
    Floats where = hn::Zero(F());
    for (std::int64_t r = 1; r < rows; ++r) {
      const Floats v = lanes.load(x + r * width + i);
      const auto larger = hn::Gt(v, top);
      top = hn::IfThenElse(larger, v, top);
      where = hn::IfThenElse(larger, hn::Set(F(), static_cast<float>(r)), where);
    }
    lanes.store(top, y + i);
    lanes.store(where, index + i);
  });
}

// All values are read once, and nothing waits for the largest.
HWY_INLINE Peak unshifted_peak(const float* x, std::int64_t n) {
  const Floats lowest = hn::Set(F(), -__builtin_inff());
  Floats top = lowest;
  Peak out;
  out.sum = sum_over(n, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
    const Floats v = lanes.load(x + i);
    top = hn::Max(top, fill_rest(lanes, v, lowest));
    return vector_math::ExpNotLarge<false>(F(), AtLeast(hn::Set(F(), -104.0F), v), v);
  });
  out.top = hn::GetLane(hn::MaxOfLanes(F(), top));
  return out;
}

Peak peak(const float* x, std::int64_t n, bool sum) {
  if (!sum) return {max_over(x, n), 0, 0};
  Peak out = unshifted_peak(x, n);
  if (__builtin_fabsf(out.top) <= kUnshifted) return out;
  out.sum = 0;
  if (out.top == -__builtin_inff()) {
    for (std::int64_t i = 0; i < n; ++i) out.sum += x[i] != x[i] ? x[i] : 0.0F;
    return out;
  }
  out.shift = out.top;
  const Floats shift = hn::Set(F(), out.shift);
  out.sum = sum_over(
      n, [&](const auto& lanes, std::int64_t i) HWY_ATTR { return ExpNeg(F(), hn::Sub(lanes.load(x + i), shift)); });
  return out;
}

// The lanes of a mask that are set, as places from i on; returns how many there are now.
HWY_INLINE std::int64_t add_places(hn::Mask<F> mask, std::int64_t i, std::int32_t* at, std::int64_t count) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(F(), mask, bytes);
  std::uint64_t bits;
  __builtin_memcpy(&bits, bytes, sizeof(bits));
  for (; bits != 0; bits &= bits - 1) at[count++] = static_cast<std::int32_t>(i) + __builtin_ctzll(bits);
  return count;
}

std::int64_t above(const float* x, std::int64_t n, float bar, std::int32_t* at) {
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  const Floats low = hn::Set(F(), bar);
  const auto higher = [&](std::int64_t i) HWY_ATTR { return hn::Gt(hn::LoadU(F(), x + i), low); };
  std::int64_t count = 0;
  std::int64_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    const auto a = higher(i);
    const auto b = higher(i + L);
    const auto c = higher(i + 2 * L);
    const auto d = higher(i + 3 * L);
    if (hn::AllFalse(F(), hn::Or(hn::Or(a, b), hn::Or(c, d)))) continue;  // almost always
    count = add_places(a, i, at, count);
    count = add_places(b, i + L, at, count);
    count = add_places(c, i + 2 * L, at, count);
    count = add_places(d, i + 3 * L, at, count);
  }
  for (; i + L <= n; i += L) count = add_places(higher(i), i, at, count);
  for (; i < n; ++i) {
    if (x[i] > bar) at[count++] = static_cast<std::int32_t>(i);
  }
  return count;
}

}  // namespace

extern const RowKernels rows;
const RowKernels rows = {
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .log_softmax = log_softmax,
    .log_softmax_backward = log_softmax_backward,
    .layer_norm = layer_norm,
    .layer_norm_backward = layer_norm_backward,
    .bias_activation = bias_activation,
    .bias_activation_backward = bias_activation_backward,
    .add_bias = add_bias,
    .mul_bias = mul_bias,
    .column_sums = column_sums,
    .column_dots = column_dots,
    .row_sums = row_sums,
    .column_max = column_max,
    .peak = peak,
    .above = above,
};

}  // namespace fovea::kernels::FOVEA_ISA
