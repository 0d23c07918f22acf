// exp, tanh, sigmoid, gelu and swish on one vector, for every Highway kernel source. D is a tag of float.
//
// The coefficients are our own fits (script/minimax prints them); tests/kernels/vector_math_test.cpp holds each
// function to its bound. NaN stays NaN.
#pragma once

#include "kernels/activation.hpp"
#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {

template <class D>
using VecOf = hn::Vec<D>;

/// The larger, and the smaller, of a bound and x; NaN stays NaN. On x86 Highway's Max and Min give their second operand
/// when one is NaN, on ARM the one that is a number.
template <class V>
HWY_INLINE V AtLeast(V bound, V x) {
#if defined(FOVEA_ISA_neon)
  return V(vmaxq_f32(bound.raw, x.raw));
#else
  return hn::Max(bound, x);
#endif
}
template <class V>
HWY_INLINE V AtMost(V bound, V x) {
#if defined(FOVEA_ISA_neon)
  return V(vminq_f32(bound.raw, x.raw));
#else
  return hn::Min(bound, x);
#endif
}

namespace vector_math {

// Adding 1.5 * 2^23 to |x| < 2^22 leaves round(x) in the low bits of the sum.
constexpr float kRound = 12582912.0F;
constexpr float kLog2e = 1.44269504F;
// ln 2 in two parts; the first has ten zero bits at its end, so that n * kLn2High is exact.
constexpr float kLn2High = 0.693359375F;
constexpr float kLn2Low = -2.12194440e-4F;

// scale * exp(r) for |r| <= ln(2) / 2, within 2^-28.2.
template <class D, class V = VecOf<D>>
HWY_INLINE V ExpReduced(D d, V r, float scale = 1.0F) {
  V p = hn::MulAdd(hn::Set(d, 0x1.6a524ep-10F * scale), r, hn::Set(d, 0x1.12396ep-7F * scale));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.5558aap-5F * scale));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.555492p-3F * scale));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.fffffcp-2F * scale));
  p = hn::MulAdd(p, r, hn::Set(d, scale));
  return hn::MulAdd(p, r, hn::Set(d, scale));
}

// x = n ln 2 + r: gives r, and n + bias as the low bits of `shifted`.
template <int kBias = 0, class D, class V = VecOf<D>>
HWY_INLINE V ReduceByLn2(D d, V x, V& shifted) {
  const V round = hn::Set(d, kRound + kBias);
  shifted = hn::MulAdd(x, hn::Set(d, kLog2e), round);
  const V n = hn::Sub(shifted, round);
  return hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
}

// p * 2^n for any n that Exp meets (-150 to 129), with subnormal results rounded and overflow to infinity.
template <class D, class V = VecOf<D>>
HWY_INLINE V ScaleByPower(D d, V p, V shifted) {
#if defined(FOVEA_ISA_avx512)
  // One instruction that Highway has no name for.
  const V n = hn::Sub(shifted, hn::Set(d, kRound));
  if constexpr (sizeof(n.raw) == 64) {
    return V{_mm512_scalef_ps(p.raw, n.raw)};
  } else if constexpr (sizeof(n.raw) == 32) {
    return V{_mm256_scalef_ps(p.raw, n.raw)};
  } else {
    return V{_mm_scalef_ps(p.raw, n.raw)};
  }
#else
  // In two factors of about 2^(n/2), each an ordinary number.
  const hn::RebindToSigned<D> di;
  const auto n = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, hn::Set(d, kRound)));
  const auto half = hn::ShiftRight<1>(n);
  const auto one = hn::BitCast(di, hn::Set(d, 1.0F));
  const V first = hn::BitCast(d, hn::Add(hn::ShiftLeft<23>(half), one));
  const V second = hn::BitCast(d, hn::Add(hn::ShiftLeft<23>(hn::Sub(n, half)), one));
  return hn::Mul(hn::Mul(p, first), second);
#endif
}

// p * 2^n by adding n to the exponent: for ordinary results. p = 1 and n = -127 give exactly 0.
template <class D, class V = VecOf<D>>
HWY_INLINE V AddToExponent(D d, V p, V shifted) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// e^(x + small / 2) for -105.2 <= x <= 40, subnormal results included.
template <bool kSmall, class D, class V = VecOf<D>>
HWY_INLINE V ExpNotLarge(D d, V x, V small) {
  V shifted;
#if defined(FOVEA_ISA_avx512)
  V r = ReduceByLn2(d, x, shifted);
  if constexpr (kSmall) r = hn::MulAdd(small, hn::Set(d, 0.5F), r);
  return ScaleByPower(d, ExpReduced(d, r), shifted);
#else
  // n + 64 with the exponent's offset of 127 is never negative here; the 2^64 too much is taken from the polynomial.
  V r = ReduceByLn2<64 + 127>(d, x, shifted);
  if constexpr (kSmall) r = hn::MulAdd(small, hn::Set(d, 0.5F), r);
  const hn::RebindToSigned<D> di;
  return hn::Mul(ExpReduced(d, r, 0x1p-64F), hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
#endif
}

}  // namespace vector_math

/// e^x, within 1 ulp, subnormal results included; 0 for -inf, inf from 88.73 on.
template <class D, class V = VecOf<D>>
HWY_INLINE V Exp(D d, V x) {
  x = AtLeast(hn::Set(d, -104.0F), AtMost(hn::Set(d, 89.0F), x));
  V shifted;
  const V r = vector_math::ReduceByLn2(d, x, shifted);
  return vector_math::ScaleByPower(d, vector_math::ExpReduced(d, r), shifted);
}

/// The same for |x| < 87.33, where the result is an ordinary number: cheaper, and wrong for anything else.
template <class D, class V = VecOf<D>>
HWY_INLINE V ExpOrdinary(D d, V x) {
  V shifted;
  const V r = vector_math::ReduceByLn2(d, x, shifted);
  return vector_math::AddToExponent(d, vector_math::ExpReduced(d, r), shifted);
}

/// 2^x, within 2 ulp, subnormal results included.
template <class D, class V = VecOf<D>>
HWY_INLINE V Exp2(D d, V x) {
  x = AtLeast(hn::Set(d, -151.0F), AtMost(hn::Set(d, 129.0F), x));
  const V round = hn::Set(d, vector_math::kRound);
  const V shifted = hn::Add(x, round);
  const V r = hn::Mul(hn::Sub(x, hn::Sub(shifted, round)), hn::Set(d, 0.693147182F));
  return vector_math::ScaleByPower(d, vector_math::ExpReduced(d, r), shifted);
}

/// e^x for x <= 0, as softmax needs it: within 1 ulp where the result is an ordinary number, exactly 0 below
/// (x < -87.33, so for -inf). Cheaper than Exp.
template <class D, class V = VecOf<D>>
HWY_INLINE V ExpNeg(D d, V x) {
  V shifted;
  const V r = vector_math::ReduceByLn2(d, x, shifted);
  const V y = vector_math::AddToExponent(d, vector_math::ExpReduced(d, r), shifted);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33F)), y);
}

/// 2^x for x <= 0: within 2.6 ulp for x >= -126, between 0 and 2^-126 below, exactly 0 for x <= -127 (so for -inf). The
/// cheapest exponential: tiled softmax keeps its scores times log2(e).
template <class D, class V = VecOf<D>>
HWY_INLINE V Exp2Neg(D d, V x) {
  x = AtLeast(hn::Set(d, -127.0F), x);
  const V round = hn::Set(d, vector_math::kRound);
  const V shifted = hn::Add(x, round);
  const V r = hn::Sub(x, hn::Sub(shifted, round));
  V p = hn::MulAdd(hn::Set(d, 0x1.5bda58p-10F), r, hn::Set(d, 0x1.3ce8aep-7F));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.c6b6d8p-5F));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.ebf9c2p-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.62e42ap-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  return vector_math::AddToExponent(d, p, shifted);
}

/// tanh(x), within 3.6 ulp; |tanh(x)| <= 1 always. From t = tanh(x/2) = x P(x^2) / Q(x^2) by 2 t / (1 + t^2), in one
/// division: near saturation, where both polynomials have gathered rounding errors, d tanh / dt is small. (P and Q are
/// scaled so that Q(0)^2 lies high between two powers of 2, where rounding costs less.)
template <class D, class V = VecOf<D>>
HWY_INLINE V Tanh(D d, V x) {
  // From here on the result rounds to 1, which these polynomials give at 9.015 exactly.
  x = AtLeast(hn::Set(d, -9.015F), AtMost(hn::Set(d, 9.015F), x));
  const V u = hn::Mul(x, x);
  V p = hn::MulAdd(hn::Set(d, 0.000102676455F), u, hn::Set(d, 0.0267890493F));
  V q = hn::MulAdd(hn::Set(d, 2.20617428e-06F), u, hn::Set(d, 0.00217026478F));
  q = hn::MulAdd(q, u, hn::Set(d, 0.203578009F));
  p = hn::MulAdd(p, u, hn::Set(d, 0.9F));
  q = hn::MulAdd(q, u, hn::Set(d, 1.8F));
  const V n = hn::Mul(x, p);
  return hn::Div(hn::Mul(hn::Add(n, n), q), hn::MulAdd(n, n, hn::Mul(q, q)));
}

/// dx of y = exp(x), given y and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V ExpGrad(D, V y, V dy) {
  return hn::Mul(dy, y);
}

/// dx of y = ln(x), given x and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V LogGrad(D, V x, V dy) {
  return hn::Div(dy, x);
}

/// dx of y = tanh(x), given y and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V TanhGrad(D d, V y, V dy) {
  return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0F)));
}

/// 1 / (1 + e^-x) = e^x / (1 + e^x), within 3 ulp: relatively accurate for negative x too, down to subnormal results.
template <class D, class V = VecOf<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  // From 18 on the result rounds to 1.
  x = AtLeast(hn::Set(d, -104.0F), AtMost(hn::Set(d, 18.0F), x));
  const V e = vector_math::ExpNotLarge<false>(d, x, x);
  return hn::Div(e, hn::Add(e, hn::Set(d, 1.0F)));
}

/// dx of y = sigmoid(x), given y and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V SigmoidGrad(D d, V y, V dy) {
  return hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(d, 1.0F), y));
}

namespace vector_math {

// For a = min(|x|, 14.5): bell = exp(-a^2 / 2), and the tail 1 - Phi(a) = bell * P(a) / Q(a).
template <class D, class V = VecOf<D>>
HWY_INLINE V NormalTail(D d, V a, V& bell) {
  const V square = hn::Mul(a, a);
  const V lost = hn::NegMulAdd(a, a, square);  // what rounding put into the square: it would cost 100 ulp in the tail
  bell = ExpNotLarge<true>(d, hn::Mul(square, hn::Set(d, -0.5F)), lost);
  V p = hn::MulAdd(hn::Set(d, 0.00411631668980855F), a, hn::Set(d, 0.040633268321415866F));
  V q = hn::MulAdd(hn::Set(d, 0.010317956057143364F), a, hn::Set(d, 0.10185894636246465F));
  p = hn::MulAdd(p, a, hn::Set(d, 0.18323524740349068F));
  q = hn::MulAdd(q, a, hn::Set(d, 0.4694709235530026F));
  p = hn::MulAdd(p, a, hn::Set(d, 0.43829507565356235F));
  q = hn::MulAdd(q, a, hn::Set(d, 1.2025035600992444F));
  p = hn::MulAdd(p, a, hn::Set(d, 0.5F));
  q = hn::MulAdd(q, a, hn::Set(d, 1.674475132598136F));
  q = hn::MulAdd(q, a, hn::Set(d, 1.0F));
  return hn::Mul(bell, hn::Div(p, q));
}

}  // namespace vector_math

/// gelu(x) = x Phi(x), the exact form with erf (Hendrycks and Gimpel 2016), within 5 ulp wherever the result is an
/// ordinary number: written as max(x, 0) - |x| (1 - Phi(|x|)), so that the negative side, where 1 + erf cancels, keeps
/// its relative accuracy.
template <class D, class V = VecOf<D>>
HWY_INLINE V Gelu(D d, V x) {
  const V a = AtMost(hn::Set(d, 14.5F), hn::Abs(x));
  V bell;
  const V tail = vector_math::NormalTail(d, a, bell);
  return hn::NegMulAdd(a, tail, AtLeast(hn::Zero(d), x));
}

/// gelu'(x) = Phi(x) + x phi(x), within 4e-7 of the truth.
template <class D, class V = VecOf<D>>
HWY_INLINE V GeluSlope(D d, V x) {
  const V a = AtMost(hn::Set(d, 14.5F), hn::Abs(x));
  V bell;
  const V tail = vector_math::NormalTail(d, a, bell);
  const V phi = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail));
  return hn::MulAdd(hn::Mul(hn::CopySign(a, x), hn::Set(d, 0.398942280F)), bell, phi);
}

/// dx of y = gelu(x), given x and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V GeluGrad(D d, V x, V dy) {
  return hn::Mul(dy, GeluSlope(d, x));
}

/// max(x, 0); NaN stays NaN.
template <class D, class V = VecOf<D>>
HWY_INLINE V Relu(D d, V x) {
  return AtLeast(hn::Zero(d), x);
}

/// dx of y = relu(x), given x or y, and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V ReluGrad(D d, V x, V dy) {
  return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), dy);
}

/// x above 0, kLeakySlope x below; NaN stays NaN.
template <class D, class V = VecOf<D>>
HWY_INLINE V LeakyRelu(D d, V x) {
  return hn::Max(hn::Mul(x, hn::Set(d, kLeakySlope)), x);
}

/// dx of y = leaky_relu(x), given x or y, and dy.
template <class D, class V = VecOf<D>>
HWY_INLINE V LeakyReluGrad(D d, V x, V dy) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), dy, hn::Mul(dy, hn::Set(d, kLeakySlope)));
}

namespace vector_math {

// x (linear + cubic x^2).
template <class D, class V = VecOf<D>>
HWY_INLINE V GeluInner(D d, V x, float linear, float cubic) {
  return hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, cubic), hn::Set(d, linear)));
}

}  // namespace vector_math

/// gelu_tanh(x) = x sigmoid(x (kGeluLinear + kGeluCubic x^2)); 0 for -inf.
template <class D, class V = VecOf<D>>
HWY_INLINE V GeluTanh(D d, V x) {
  x = AtLeast(hn::Set(d, -15.0F), x);
  return hn::Mul(x, Sigmoid(d, vector_math::GeluInner(d, x, kGeluLinear, kGeluCubic)));
}

/// dx of y = gelu_tanh(x), given x and dy: dy s (1 + x (1 - s) u') with u the inner sum and s = sigmoid(u). 1 - s comes
/// from the exponential too, since the difference would lose what x multiplies.
template <class D, class V = VecOf<D>>
HWY_INLINE V GeluTanhGrad(D d, V x, V dy) {
  const V one = hn::Set(d, 1.0F);
  x = AtLeast(hn::Set(d, -15.0F), AtMost(hn::Set(d, 5.5F), x));  // from 5.5 on the slope rounds to 1
  const V u = AtLeast(hn::Set(d, -104.0F), vector_math::GeluInner(d, x, kGeluLinear, kGeluCubic));
  const V e = vector_math::ExpNotLarge<false>(d, u, u);
  const V rest = hn::Div(one, hn::Add(e, one));                               // 1 - s
  const V slope = vector_math::GeluInner(d, x, kGeluLinear, 3 * kGeluCubic);  // x u'
  return hn::Mul(dy, hn::Mul(hn::Mul(e, rest), hn::MulAdd(slope, rest, one)));
}

/// swish(x) = x sigmoid(x), within 5 ulp where sigmoid(x) is an ordinary number; 0 for -inf.
template <class D, class V = VecOf<D>>
HWY_INLINE V Swish(D d, V x) {
  return hn::Mul(AtLeast(hn::Set(d, -104.0F), x), Sigmoid(d, x));
}

/// dx of y = swish(x), given x and dy: dy s (1 + x (1 - s)) with s = sigmoid(x), the slope within 5e-7 of the truth.
/// 1 - s comes from the exponential too, since the difference would lose what x multiplies.
template <class D, class V = VecOf<D>>
HWY_INLINE V SwishGrad(D d, V x, V dy) {
  const V one = hn::Set(d, 1.0F);
  x = AtLeast(hn::Set(d, -104.0F), AtMost(hn::Set(d, 18.0F), x));
  const V e = vector_math::ExpNotLarge<false>(d, x, x);
  const V rest = hn::Div(one, hn::Add(e, one));  // 1 - s
  return hn::Mul(dy, hn::Mul(hn::Mul(e, rest), hn::MulAdd(x, rest, one)));
}

/// ln(x), within 2 ulp, for subnormal x too; -inf for 0, NaN for x < 0.
template <class D, class V = VecOf<D>>
HWY_INLINE V Log(D d, V x) {
  const hn::RebindToSigned<D> di;
  // x = m 2^e with sqrt(1/2) <= m < sqrt(2); a subnormal x is scaled by 2^24 first.
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-126F));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p24F)), x);
  const auto bits = hn::Sub(hn::BitCast(di, scaled), hn::Set(di, 0x3f3504f3));
  const V e = hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(bits)), hn::IfThenElseZero(tiny, hn::Set(d, 24.0F)));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, 0x7fffff)), hn::Set(di, 0x3f3504f3)));
  const V f = hn::Sub(m, hn::Set(d, 1.0F));
  V p = hn::MulAdd(hn::Set(d, -0x1.38c9d4p-4F), f, hn::Set(d, 0x1.055ec4p-3F));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.0d8242p-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.22d92ep-3F));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.54728ap-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.99a01cp-3F));
  p = hn::MulAdd(p, f, hn::Set(d, -0x1.000226p-2F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.555554p-2F));
  const V square = hn::Mul(f, f);
  V y = hn::MulAdd(e, hn::Set(d, vector_math::kLn2Low), hn::Mul(hn::Mul(p, f), square));
  y = hn::Add(hn::NegMulAdd(square, hn::Set(d, 0.5F), y), f);
  y = hn::MulAdd(e, hn::Set(d, vector_math::kLn2High), y);
  // inf and NaN are themselves.
  const V infinity = hn::Set(d, __builtin_inff());
  y = hn::IfThenElse(hn::Lt(x, infinity), y, x);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, __builtin_nanf("")), y);
}

}  // namespace fovea::kernels::FOVEA_ISA
