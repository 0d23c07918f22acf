#include "kernels/math.hpp"

#include <cmath>

#include "kernels/activation.hpp"

namespace fovea::kernels::generic {
namespace {

template <class F>
void map(const float* x, float* y, std::size_t n, F f) {
  for (std::size_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

template <class F>
void map_grad(const float* v, const float* dy, float* dx, std::size_t n, bool add, F f) {
  for (std::size_t i = 0; i < n; ++i) dx[i] = f(v[i], dy[i]) + (add ? dx[i] : 0.0F);
}

template <class F>
void map2(const float* a, const float* b, float* y, std::size_t n, F f) {
  for (std::size_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
}

float sigmoid_of(float x) {
  if (x >= 0) return 1.0F / (1.0F + std::exp(-x));
  const float e = std::exp(x);
  return e / (1.0F + e);
}

// 1 - Phi(a) for the standard normal distribution.
float tail(float a) {
  return 0.5F * static_cast<float>(std::erfc(static_cast<double>(a) * M_SQRT1_2));
}

float gelu_of(float x) {
  return x > -15.0F ? x * tail(-x) : std::isnan(x) ? x : -0.0F;
}

float gelu_slope(float x) {
  constexpr float kRootTwoPi = 0.398942280F;
  return tail(-x) + (std::abs(x) < 15.0F ? x * kRootTwoPi * std::exp(-0.5F * x * x) : 0.0F);
}

float gelu_tanh_of(float x) {
  return x > -15.0F ? x * sigmoid_of(x * (kGeluLinear + kGeluCubic * x * x)) : std::isnan(x) ? x : -0.0F;
}

float gelu_tanh_slope(float x) {
  if (std::abs(x) > 15.0F) return x > 0 ? 1.0F : 0.0F;
  const float u = x * (kGeluLinear + kGeluCubic * x * x);
  const float s = sigmoid_of(u);
  return s + x * s * sigmoid_of(-u) * (kGeluLinear + 3 * kGeluCubic * x * x);
}

float swish_of(float x) {
  return x > -104.0F || std::isnan(x) ? x * sigmoid_of(x) : -0.0F;
}

float swish_slope(float x) {
  if (std::abs(x) > 104.0F) return x > 0 ? 1.0F : 0.0F;
  return sigmoid_of(x) * (1 + x * sigmoid_of(-x));
}

void exp(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return std::exp(v); });
}
void exp2(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return std::exp2(v); });
}
void tanh(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return std::tanh(v); });
}
void sigmoid(const float* x, float* y, std::size_t n) {
  map(x, y, n, sigmoid_of);
}
void relu(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return v < 0 ? 0.0F : v; });
}
void leaky_relu(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return v > 0 ? v : kLeakySlope * v; });
}
void gelu(const float* x, float* y, std::size_t n) {
  map(x, y, n, gelu_of);
}
void gelu_tanh(const float* x, float* y, std::size_t n) {
  map(x, y, n, gelu_tanh_of);
}
void swish(const float* x, float* y, std::size_t n) {
  map(x, y, n, swish_of);
}
void log(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](float v) { return std::log(v); });
}
void exp_backward(const float* y, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(y, dy, dx, n, add, [](float v, float g) { return g * v; });
}
void log_backward(const float* x, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(x, dy, dx, n, add, [](float v, float g) { return g / v; });
}
void tanh_backward(const float* y, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(y, dy, dx, n, add, [](float v, float g) { return g * (1 - v * v); });
}
void sigmoid_backward(const float* y, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(y, dy, dx, n, add, [](float v, float g) { return g * v * (1 - v); });
}
void relu_backward(const float* y, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(y, dy, dx, n, add, [](float v, float g) { return v > 0 ? g : 0.0F; });
}
void leaky_relu_backward(const float* y, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(y, dy, dx, n, add, [](float v, float g) { return v > 0 ? g : kLeakySlope * g; });
}
void gelu_backward(const float* x, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(x, dy, dx, n, add, [](float v, float g) { return g * gelu_slope(v); });
}
void gelu_tanh_backward(const float* x, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(x, dy, dx, n, add, [](float v, float g) { return g * gelu_tanh_slope(v); });
}
void swish_backward(const float* x, const float* dy, float* dx, std::size_t n, bool add) {
  map_grad(x, dy, dx, n, add, [](float v, float g) { return g * swish_slope(v); });
}
void add(const float* a, const float* b, float* y, std::size_t n) {
  map2(a, b, y, n, [](float u, float v) { return u + v; });
}
void sub(const float* a, const float* b, float* y, std::size_t n) {
  map2(a, b, y, n, [](float u, float v) { return u - v; });
}
void mul(const float* a, const float* b, float* y, std::size_t n) {
  map2(a, b, y, n, [](float u, float v) { return u * v; });
}
void mul_add(const float* a, const float* b, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a[i] * b[i];
}
void add_in_place(const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
}
void scale(float s, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = s * x[i];
}
void axpy(float s, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += s * x[i];
}

}  // namespace

extern const MathKernels math;
const MathKernels math = {
    .exp = exp,
    .exp2 = exp2,
    .exp_neg = exp,
    .exp2_neg = exp2,
    .tanh = tanh,
    .sigmoid = sigmoid,
    .relu = relu,
    .leaky_relu = leaky_relu,
    .gelu = gelu,
    .gelu_tanh = gelu_tanh,
    .swish = swish,
    .log = log,
    .exp_backward = exp_backward,
    .log_backward = log_backward,
    .tanh_backward = tanh_backward,
    .sigmoid_backward = sigmoid_backward,
    .relu_backward = relu_backward,
    .leaky_relu_backward = leaky_relu_backward,
    .gelu_backward = gelu_backward,
    .gelu_tanh_backward = gelu_tanh_backward,
    .swish_backward = swish_backward,
    .add = add,
    .sub = sub,
    .mul = mul,
    .mul_add = mul_add,
    .add_in_place = add_in_place,
    .scale = scale,
    .axpy = axpy,
};

}  // namespace fovea::kernels::generic
