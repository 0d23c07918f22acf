#include "kernels/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea::kernels::generic {
namespace {

using std::int64_t;

void put(float& to, float value, bool add) {
  to = add ? to + value : value;
}

void softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float top = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < width; ++i) top = std::max(top, x[i]);
    if (top == -std::numeric_limits<float>::infinity()) top = 0;
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += y[i] = std::exp(x[i] - top);
    const auto scale = static_cast<float>(sum == 0 ? 0 : 1 / sum);
    for (int64_t i = 0; i < width; ++i) y[i] *= scale;
  }
}

void softmax_backward(const float* y, const float* dy, float* dx, int64_t rows, int64_t width, bool add) {
  for (int64_t r = 0; r < rows; ++r, y += width, dy += width, dx += width) {
    double dot = 0;
    for (int64_t i = 0; i < width; ++i) dot += static_cast<double>(y[i]) * dy[i];
    for (int64_t i = 0; i < width; ++i) put(dx[i], y[i] * (dy[i] - static_cast<float>(dot)), add);
  }
}

void log_softmax(const float* x, float* y, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float top = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < width; ++i) top = std::max(top, x[i]);
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += std::exp(x[i] - top);
    const auto log_sum = static_cast<float>(std::log(sum));
    for (int64_t i = 0; i < width; ++i) y[i] = x[i] - top - log_sum;
  }
}

void log_softmax_backward(const float* y, const float* dy, float* dx, int64_t rows, int64_t width, bool add) {
  for (int64_t r = 0; r < rows; ++r, y += width, dy += width, dx += width) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += dy[i];
    for (int64_t i = 0; i < width; ++i) put(dx[i], dy[i] - std::exp(y[i]) * static_cast<float>(sum), add);
  }
}

// Whether value i of an array is kept, and what it is multiplied with.
class Mask {
 public:
  explicit Mask(const Dropout& how) : how_(how), threshold_(dropout_threshold(how.rate)) {}
  float operator()(int64_t i) const {
    if (how_.rate == 0) return 1;
    return dropout_keeps(how_.seed, how_.counter + static_cast<std::uint64_t>(i), threshold_) ? 1 / (1 - how_.rate) : 0;
  }

 private:
  Dropout how_;
  std::int32_t threshold_;
};

void layer_norm(const LayerNorm& n) {
  const Mask mask(n.dropout);
  const auto width = static_cast<double>(n.width);
  for (int64_t r = 0; r < n.rows; ++r) {
    const float* x = n.x + r * n.width;
    if (n.residual != nullptr) {
      float* h = n.h + r * n.width;
      for (int64_t i = 0; i < n.width; ++i) h[i] = x[i] + mask(r * n.width + i) * n.residual[r * n.width + i];
      x = h;
    }
    double sum = 0;
    for (int64_t i = 0; i < n.width; ++i) sum += x[i];
    const double mean = sum / width;
    double squares = 0;
    for (int64_t i = 0; i < n.width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double rstd = 1 / std::sqrt(squares / width + n.epsilon);
    n.mean[r] = static_cast<float>(mean);
    n.rstd[r] = static_cast<float>(rstd);
    for (int64_t i = 0; i < n.width; ++i) {
      const auto standard = static_cast<float>((x[i] - mean) * rstd);
      n.y[r * n.width + i] =
          standard * (n.gamma != nullptr ? n.gamma[i] : 1.0F) + (n.beta != nullptr ? n.beta[i] : 0.0F);
    }
  }
}

void layer_norm_backward(const LayerNormBackward& n) {
  const auto width = static_cast<double>(n.width);
  for (int64_t r = 0; r < n.rows; ++r) {
    const float* x = n.x + r * n.width;
    const float* dy = n.dy + r * n.width;
    const auto standard = [&](int64_t i) { return (x[i] - n.mean[r]) * n.rstd[r]; };
    const auto g = [&](int64_t i) { return dy[i] * (n.gamma != nullptr ? n.gamma[i] : 1.0F); };
    double sum = 0;
    double dot = 0;
    for (int64_t i = 0; i < n.width; ++i) {
      sum += g(i);
      dot += static_cast<double>(g(i)) * standard(i);
      if (n.dgamma != nullptr) n.dgamma[i] += dy[i] * standard(i);
      if (n.dbeta != nullptr) n.dbeta[i] += dy[i];
    }
    for (int64_t i = 0; i < n.width; ++i) {
      const auto dx = static_cast<float>(n.rstd[r] * (g(i) - sum / width - standard(i) * dot / width));
      put(n.dx[r * n.width + i], dx, n.add);
    }
  }
}

constexpr double kRootHalf = 0.70710678118654752;
constexpr double kRootTwoPi = 0.39894228040143268;

float activate(Activation f, float x) {
  switch (f) {
    case Activation::relu:
      return x < 0 ? 0.0F : x;
    case Activation::leaky_relu:
      return x > 0 ? x : kLeakySlope * x;
    case Activation::gelu:
      return static_cast<float>(x * 0.5 * std::erfc(-x * kRootHalf));
    case Activation::gelu_tanh:
      return static_cast<float>(x / (1 + std::exp(-static_cast<double>(x) * (kGeluLinear + kGeluCubic * x * x))));
    case Activation::swish:
      return x < -104 ? -0.0F : static_cast<float>(x / (1 + std::exp(-static_cast<double>(x))));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
    case Activation::none:
      break;
  }
  return x;
}

// From x where gradient_needs_x(), from y for the others.
float slope(Activation f, float x, float y) {
  switch (f) {
    case Activation::relu:
      return y > 0 ? 1.0F : 0.0F;
    case Activation::leaky_relu:
      return y > 0 ? 1.0F : kLeakySlope;
    case Activation::gelu:
      return static_cast<float>(0.5 * std::erfc(-x * kRootHalf) + x * kRootTwoPi * std::exp(-0.5 * x * x));
    case Activation::gelu_tanh: {
      const double inner = static_cast<double>(x) * (kGeluLinear + kGeluCubic * x * x);
      const double s = 1 / (1 + std::exp(-inner));
      return static_cast<float>(s + x * s * (1 - s) * (kGeluLinear + 3 * kGeluCubic * x * x));
    }
    case Activation::swish: {
      if (std::abs(x) > 104) return x > 0 ? 1.0F : 0.0F;
      const double s = 1 / (1 + std::exp(-static_cast<double>(x)));
      return static_cast<float>(s * (1 + x * (1 - s)));
    }
    case Activation::tanh:
      return 1 - y * y;
    case Activation::sigmoid:
      return y * (1 - y);
    case Activation::none:
      break;
  }
  return 1;
}

void bias_activation(const BiasActivation& b) {
  const Mask mask(b.dropout);
  for (int64_t r = 0; r < b.rows; ++r) {
    for (int64_t i = 0; i < b.width; ++i) {
      const int64_t at = r * b.width + i;
      b.y[at] = mask(at) * activate(b.activation, b.x[at] + (b.bias != nullptr ? b.bias[i] : 0.0F));
    }
  }
}

void bias_activation_backward(const BiasActivationBackward& b) {
  const Mask mask(b.dropout);
  const bool needs_x = gradient_needs_x(b.activation);
  const bool needs_y = !needs_x && b.activation != Activation::none;
  for (int64_t r = 0; r < b.rows; ++r) {
    for (int64_t i = 0; i < b.width; ++i) {
      const int64_t at = r * b.width + i;
      const float kept = mask(at);
      const float x = needs_x ? b.x[at] + (b.bias != nullptr ? b.bias[i] : 0.0F) : 0;
      const float y = !needs_y ? 0 : b.y[at] * (1 - b.dropout.rate);  // before dropout, where it was kept
      const float dx = kept == 0 ? 0.0F : b.dy[at] * kept * slope(b.activation, x, y);
      put(b.dx[at], dx, b.add);
      if (b.dbias != nullptr) b.dbias[i] += dx;
    }
  }
}

void add_bias(const float* x, const float* bias, float* y, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) y[r * width + i] = x[r * width + i] + bias[i];
  }
}

void mul_bias(const float* x, const float* factor, float* y, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) y[r * width + i] = x[r * width + i] * factor[i];
  }
}

void column_sums(const float* x, float* sums, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) sums[i] += x[r * width + i];
  }
}

void column_dots(const float* a, const float* b, float* sums, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) sums[i] += a[r * width + i] * b[r * width + i];
  }
}

void row_sums(const float* x, float* sums, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += x[r * width + i];
    sums[r] = static_cast<float>(sum);
  }
}

void column_max(const float* x, float* y, float* index, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < width; ++i) {
    y[i] = x[i];
    index[i] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) {
      if (x[r * width + i] > y[i]) {
        y[i] = x[r * width + i];
        index[i] = static_cast<float>(r);
      }
    }
  }
}

Peak peak(const float* x, int64_t n, bool sum) {
  Peak out{-std::numeric_limits<float>::infinity(), 0, 0};
  for (int64_t i = 0; i < n; ++i) out.top = std::max(out.top, x[i]);
  if (!sum) return out;
  if (out.top == -std::numeric_limits<float>::infinity()) {
    for (int64_t i = 0; i < n; ++i) out.sum += std::isnan(x[i]) ? x[i] : 0;
    return out;
  }
  if (!(std::abs(out.top) <= kUnshifted)) out.shift = out.top;
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += std::exp(x[i] - out.shift);
  out.sum = static_cast<float>(total);
  return out;
}

int64_t above(const float* x, int64_t n, float bar, std::int32_t* at) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
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

}  // namespace fovea::kernels::generic
