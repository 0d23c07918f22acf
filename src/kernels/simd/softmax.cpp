#include "kernels/simd/reduce-inl.hpp"
#include "kernels/simd/row_functions.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

template <bool kAdd>
void softmax_gradient(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, y += width, dy += width, dx += width) {
    const float dot = sum_over(width, [&](const auto& lanes, std::int64_t i)
                                          HWY_ATTR { return hn::Mul(lanes.load(y + i), lanes.load(dy + i)); });
    const Floats center = hn::Set(F(), dot);
    for_lanes(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      put<kAdd>(lanes, hn::Mul(lanes.load(y + i), hn::Sub(lanes.load(dy + i), center)), dx + i);
    });
  }
}

template <bool kAdd>
void log_softmax_gradient(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, y += width, dy += width, dx += width) {
    const float sum = sum_over(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR { return lanes.load(dy + i); });
    const Floats all = hn::Set(F(), sum);
    for_lanes(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      put<kAdd>(lanes, hn::NegMulAdd(ExpNeg(F(), lanes.load(y + i)), all, lanes.load(dy + i)), dx + i);
    });
  }
}

}  // namespace

void softmax(const float* x, float* y, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float top = max_over(x, width);
    if (top == -__builtin_inff()) top = 0;  // nothing to choose from: exp gives 0 everywhere
    const Floats shift = hn::Set(F(), top);
    const float sum = sum_over(width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      const Floats e = ExpNeg(F(), hn::Sub(lanes.load(x + i), shift));
      lanes.store(e, y + i);
      return e;
    });
    const Floats scale = hn::Set(F(), sum == 0 ? 0.0F : 1 / sum);
    for_lanes(width, [&](const auto& lanes, std::int64_t i)
                         HWY_ATTR { lanes.store(hn::Mul(lanes.load(y + i), scale), y + i); });
  }
}

void softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width, bool add) {
  add ? softmax_gradient<true>(y, dy, dx, rows, width) : softmax_gradient<false>(y, dy, dx, rows, width);
}

void log_softmax(const float* x, float* y, std::int64_t rows, std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    const float top = max_over(x, width);
    const Floats shift = hn::Set(F(), top);
    const float sum = sum_over(width, [&](const auto& lanes, std::int64_t i)
                                          HWY_ATTR { return ExpNeg(F(), hn::Sub(lanes.load(x + i), shift)); });
    // Two subtractions: top may be so large that the logarithm would be lost in it.
    const Floats log_sum = hn::Set(F(), __builtin_logf(sum));
    for_lanes(width, [&](const auto& lanes, std::int64_t i)
                         HWY_ATTR { lanes.store(hn::Sub(hn::Sub(lanes.load(x + i), shift), log_sum), y + i); });
  }
}

void log_softmax_backward(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width, bool add) {
  add ? log_softmax_gradient<true>(y, dy, dx, rows, width) : log_softmax_gradient<false>(y, dy, dx, rows, width);
}

}  // namespace fovea::kernels::FOVEA_ISA
