#include "kernels/half.hpp"

#include <bit>

namespace fovea::kernels::generic {
namespace {

float value_of(Half bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const std::uint32_t exponent = bits >> 10U & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13U);
  return std::bit_cast<float>(sign | (exponent + 112) << 23U | fraction << 13U);
}

void widen_halves(std::int64_t n, const Half* x, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = value_of(x[i]);
}

Half half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t size = bits & 0x7FFFFFFFU;
  if (size > 0x7F800000U) return static_cast<Half>(sign | 0x7E00U | (size >> 13U & 0x3FFU));  // stays a NaN
  if (size >= 0x477FF000U) return static_cast<Half>(sign | 0x7C00U);                          // 65520 and more
  if (size < 0x38800000U) {  // below 2^-14: a multiple of 2^-24, which adding 2^-1 rounds to
    const float shifted = std::bit_cast<float>(size) + 0.5F;
    return static_cast<Half>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = size + 0xFFFU + (size >> 13U & 1U);
  return static_cast<Half>(sign | ((rounded >> 13U) - (112U << 10U)));
}

void narrow_floats(std::int64_t n, const float* x, Half* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = half_of(x[i]);
}

}  // namespace

extern const HalfKernels half;
const HalfKernels half = {.widen = widen_halves, .narrow = narrow_floats, .rows = nullptr};

}  // namespace fovea::kernels::generic
