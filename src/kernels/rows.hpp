// Kernels on the rows of a packed [rows, width] array. Each row's result depends on that row alone. Sums over
// rows run from the first to the last. Callers split the rows.
#pragma once

#include <cstdint>

#include "kernels/activation.hpp"
#include "kernels/random.hpp"

namespace fovea::kernels {

/// Layer normalisation of rows (Ba et al. 2016): y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(var + epsilon).
struct LayerNorm {
  std::int64_t rows = 0, width = 0;
  float epsilon = 1e-5F;
  const float* x = nullptr;
  const float* gamma = nullptr;  // [width]; null: 1
  const float* beta = nullptr;   // [width]; null: 0
  float* y = nullptr;
  float* mean = nullptr;  // [rows]
  float* rstd = nullptr;  // [rows]
  // With `residual`: h = x + dropout(residual) is normalised in place of x, and stored.
  const float* residual = nullptr;
  Dropout dropout = {};  // counter is that of the first row's first value
  float* h = nullptr;
};

/// Its gradient, from what the forward kept. x is what was normalised (h, with a residual).
struct LayerNormBackward {
  std::int64_t rows = 0, width = 0;
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  const float* dy = nullptr;
  float* dx = nullptr;
  bool add = false;         // dx += instead of dx =
  float* dgamma = nullptr;  // [width], added to; null: not wanted
  float* dbeta = nullptr;   // [width], added to; null: not wanted
};

/// y = dropout(f(x + bias)).
struct BiasActivation {
  std::int64_t rows = 0, width = 0;
  Activation activation = Activation::none;
  const float* x = nullptr;
  const float* bias = nullptr;  // [width]; null: 0
  float* y = nullptr;
  Dropout dropout = {};
};

/// Its gradient, from x (and bias) where gradient_needs_x(), from y for the others.
struct BiasActivationBackward {
  std::int64_t rows = 0, width = 0;
  Activation activation = Activation::none;
  const float* x = nullptr;
  const float* bias = nullptr;
  const float* y = nullptr;
  Dropout dropout = {};
  const float* dy = nullptr;
  float* dx = nullptr;
  bool add = false;
  float* dbias = nullptr;  // [width], added to; null: not wanted
};

/// The largest of some values, and the sum of exp(value - shift). No shift is needed where all goes well without: that
/// saves to wait for the largest, and joining the sums of many blocks takes no exponentials.
struct Peak {
  float top = 0, shift = 0, sum = 0;
};

/// Beyond it the largest value is the shift.
constexpr float kUnshifted = 40.0F;

struct RowKernels {
  /// softmax of each row; -inf counts as absent, a row of nothing else becomes 0. y may be x.
  void (*softmax)(const float* x, float* y, std::int64_t rows, std::int64_t width);
  /// dx = y * (dy - sum(y * dy)), or dx +=.
  void (*softmax_backward)(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width, bool add);
  /// y = x - log(sum(exp(x))). y may be x.
  void (*log_softmax)(const float* x, float* y, std::int64_t rows, std::int64_t width);
  /// dx = dy - exp(y) * sum(dy), or dx +=.
  void (*log_softmax_backward)(const float* y, const float* dy, float* dx, std::int64_t rows, std::int64_t width,
                               bool add);
  void (*layer_norm)(const LayerNorm& n);
  void (*layer_norm_backward)(const LayerNormBackward& n);
  void (*bias_activation)(const BiasActivation& b);
  void (*bias_activation_backward)(const BiasActivationBackward& b);
  /// y = x + bias, bias [width] added to each row. y may be x.
  void (*add_bias)(const float* x, const float* bias, float* y, std::int64_t rows, std::int64_t width);
  /// y = x * factor, factor [width]. y may be x.
  void (*mul_bias)(const float* x, const float* factor, float* y, std::int64_t rows, std::int64_t width);
  /// sums[width] += the rows' sum.
  void (*column_sums)(const float* x, float* sums, std::int64_t rows, std::int64_t width);
  /// sums[width] += the sum of a * b over the rows.
  void (*column_dots)(const float* a, const float* b, float* sums, std::int64_t rows, std::int64_t width);
  /// sums[rows] = each row's sum.
  void (*row_sums)(const float* x, float* sums, std::int64_t rows, std::int64_t width);
  /// y[width] = the largest value of each column, index[width] the first row that has it (as a float, exact below
  /// 2^24); rows >= 1.
  void (*column_max)(const float* x, float* y, float* index, std::int64_t rows, std::int64_t width);
  /// Of x[n]; without `sum` only the largest. -inf, 0 and 0 where nothing is more than -inf.
  Peak (*peak)(const float* x, std::int64_t n, bool sum);
  /// The places of the values above `bar`, in their order, into at[n]; how many there are.
  std::int64_t (*above)(const float* x, std::int64_t n, float bar, std::int32_t* at);
};

}  // namespace fovea::kernels
