// Differentiable operations. Each is in src/autograd/ops/NAME.cpp, forward and backward together, with both
// formulas on top. All throw ShapeError naming the op and the shapes when these do not fit.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/activation.hpp"
#include "fovea/var.hpp"

namespace FOVEA_API fovea {

/// Each value becomes 0 with probability `rate`, else is divided by 1 - rate (Srivastava et al. 2014). The same seed
/// drops the same values. Ops throw UsageError unless 0 <= rate < 1.
struct Dropout {
  float rate = 0;          // share of the values; 0: none
  std::uint64_t seed = 0;  // of the mask
};

// --- arithmetic ----------------------------------------------------------------------------------------------------
// In add, sub, mul and div, b may be of the last axes of a's shape (a bias [d] for [batch, time, d]) and is then
// applied to each row.
[[nodiscard]] Var add(const Var& a, const Var& b);
[[nodiscard]] Var sub(const Var& a, const Var& b);  // a - b, as add()
[[nodiscard]] Var mul(const Var& a, const Var& b);  // a times b, value by value, as add()
[[nodiscard]] Var div(const Var& a, const Var& b);  // a divided by b, value by value, as add()
[[nodiscard]] Var add(const Var& x, float c);       // x + c
[[nodiscard]] Var scale(const Var& x, float c);     // c x
[[nodiscard]] Var neg(const Var& x);                // -x

// --- operators: `(a + b) * 0.5F - 1` --------------------------------------------------------------------------------
[[nodiscard]] inline Var operator+(const Var& a, const Var& b) {  // a + b, as add()
  return add(a, b);
}
[[nodiscard]] inline Var operator-(const Var& a, const Var& b) {  // a - b, as sub()
  return sub(a, b);
}
[[nodiscard]] inline Var operator*(const Var& a, const Var& b) {  // a times b, as mul()
  return mul(a, b);
}
[[nodiscard]] inline Var operator/(const Var& a, const Var& b) {  // a divided by b, as div()
  return div(a, b);
}
[[nodiscard]] inline Var operator-(const Var& x) {  // -x
  return neg(x);
}
[[nodiscard]] inline Var operator+(const Var& x, float c) {  // x + c
  return add(x, c);
}
[[nodiscard]] inline Var operator-(const Var& x, float c) {  // x - c
  return add(x, -c);
}
[[nodiscard]] inline Var operator*(const Var& x, float c) {  // c x
  return scale(x, c);
}
[[nodiscard]] inline Var operator/(const Var& x, float c) {  // x times 1 / c
  return scale(x, 1 / c);
}
[[nodiscard]] inline Var operator+(float c, const Var& x) {  // c + x
  return add(x, c);
}
[[nodiscard]] inline Var operator-(float c, const Var& x) {  // c - x
  return add(neg(x), c);
}
[[nodiscard]] inline Var operator*(float c, const Var& x) {  // c x
  return scale(x, c);
}
[[nodiscard]] inline Var operator/(float c, const Var& x) {  // c divided by each value
  return div(Tensor::full(x.shape(), c), x);
}

/// x [.., T, d] + rows [T, d]: the same for everything before.
[[nodiscard]] Var add_rows(const Var& x, const Var& rows);
/// x [B, T, d] + vectors [B, d]: each sequence's vector to all its rows.
[[nodiscard]] Var add_to_rows(const Var& x, const Var& vectors);

// --- products ------------------------------------------------------------------------------------------------------
/// Options of matmul().
struct MatmulOptions {
  bool transpose_a = false;  // a is [k,m]
  bool transpose_b = false;  // b is [n,k]
};
/// [m,k] times [k,n], or a batch of each: [B,m,k] times [B,k,n].
[[nodiscard]] Var matmul(const Var& a, const Var& b, const MatmulOptions& how = {});

// --- functions of each value ---------------------------------------------------------------------------------------
[[nodiscard]] Var exp(const Var& x);         // e^x
[[nodiscard]] Var log(const Var& x);         // natural logarithm
[[nodiscard]] Var tanh(const Var& x);        // hyperbolic tangent
[[nodiscard]] Var sigmoid(const Var& x);     // 1 / (1 + exp(-x))
[[nodiscard]] Var relu(const Var& x);        // max(x, 0)
[[nodiscard]] Var leaky_relu(const Var& x);  // x above 0, 0.2 x below
[[nodiscard]] Var gelu(const Var& x);        // x Phi(x), exact
[[nodiscard]] Var gelu_tanh(const Var& x);   // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, close to gelu
[[nodiscard]] Var swish(const Var& x);       // x sigmoid(x)

// --- sums and maxima -----------------------------------------------------------------------------------------------
// Without an axis: of all values, as a scalar of shape []. With one: along it; it is dropped from the shape.
[[nodiscard]] Var sum(const Var& x);
[[nodiscard]] Var sum(const Var& x, int axis);   // along an axis, which is dropped
[[nodiscard]] Var mean(const Var& x);            // of all values, a scalar
[[nodiscard]] Var mean(const Var& x, int axis);  // along an axis, which is dropped
[[nodiscard]] Var max(const Var& x, int axis);   // along an axis, which is dropped
/// The mean of each sequence's first lengths[b] rows: [B, T, d] to [B, d]; 0 for a length of 0.
[[nodiscard]] Var mean_rows(const Var& x, std::span<const std::int64_t> lengths);
/// Each row the mean of itself and those before it: y_t = (x_1 + … + x_t) / t, [B, T, d].
[[nodiscard]] Var cumulative_mean(const Var& x);

// --- shapes --------------------------------------------------------------------------------------------------------
[[nodiscard]] Var reshape(const Var& x, const Shape& shape);                            // one axis may be -1
[[nodiscard]] Var transpose(const Var& x, int a, int b);                                // exchanges two axes
[[nodiscard]] Var slice(const Var& x, int axis, std::int64_t begin, std::int64_t end);  // begin to end - 1 of an axis
[[nodiscard]] Var select(const Var& x, int axis, std::int64_t index);                   // drops the axis
[[nodiscard]] Var gather(const Var& x, std::span<const std::int32_t> rows);             // x[rows] along the first axis
[[nodiscard]] Var concat(std::span<const Var> parts, int axis);                         // along an axis that is there
[[nodiscard]] Var stack(std::span<const Var> parts, int axis = 0);                      // along a new axis

// --- layers --------------------------------------------------------------------------------------------------------
/// Rows of `table` [vocabulary, d] times `factor`: ids in the order of `shape`, gives [shape.., d]. Throws Error for an
/// id that is not in the table.
[[nodiscard]] Var embedding(const Var& table, std::span<const std::int32_t> ids, const Shape& shape, float factor = 1);
/// dropout(f(x w + bias)): x [.., in], w [in, out], bias [out] or empty.
[[nodiscard]] Var linear(const Var& x, const Var& w, const Var& bias = {}, Activation activation = Activation::none,
                         const Dropout& dropout = {});
/// dropout(f(x + bias)) in one pass: x [.., d], bias [d] or empty.
[[nodiscard]] Var bias_activation(const Var& x, const Var& bias, Activation activation, const Dropout& dropout = {});
[[nodiscard]] Var dropout(const Var& x, const Dropout& how);  // see Dropout
/// Over the last axis. Rows sum to 1; -inf counts as absent, a row of nothing else becomes 0.
[[nodiscard]] Var softmax(const Var& x);
[[nodiscard]] Var log_softmax(const Var& x);  // log(softmax(x)) over the last axis

/// Options of layer_norm().
struct LayerNormOptions {
  float epsilon = 1e-5F;  // added to the variance
};
/// Over the last axis, with gain and bias [d], or both empty.
[[nodiscard]] Var layer_norm(const Var& x, const Var& gain, const Var& bias, const LayerNormOptions& how = {});

/// Options of residual_norm().
struct ResidualNormOptions {
  Dropout dropout{};      // of y
  float epsilon = 1e-5F;  // added to the variance
};
/// What residual_norm() gives.
struct ResidualNorm {
  Var sum;     // x + dropout(y)
  Var normed;  // its layer norm
};
/// A residual connection and the layer norm after it, in one pass. Post-norm goes on with `normed`, pre-norm with both.
[[nodiscard]] ResidualNorm residual_norm(const Var& x, const Var& y, const Var& gain, const Var& bias,
                                         const ResidualNormOptions& how = {});

// --- losses --------------------------------------------------------------------------------------------------------
/// Options of linear_cross_entropy().
struct CrossEntropyOptions {
  float label_smoothing = 0;  // probability spread evenly over the vocabulary (Szegedy et al. 2016)
  std::int32_t padding = 0;   // rows with this target cost nothing
  bool count_correct = true;  // fill CrossEntropy::correct
  bool transposed = false;    // w is [d, vocabulary]
  // R-Drop (Liang et al. 2021): x and targets hold everything twice, one half after the other, and the loss grows by
  // this times half of KL(p, q) + KL(q, p), summed over the tokens, p and q being a token's two distributions.
  float r_drop = 0;
};
/// A loss, and what it was made from.
struct CrossEntropy {
  Var loss;                  // summed over rows that are not padding, with smoothing and R-Drop
  double nll = 0;            // -log p of the targets, summed, without smoothing
  std::int64_t tokens = 0;   // rows that are not padding
  std::int64_t correct = 0;  // rows where no token is likelier than the target
};
/// softmax(x w' + bias) against targets: x [.., d], w [vocabulary, d] as an embedding has it, bias [vocabulary] or
/// empty. The logits of all rows never exist at once. Throws Error for a target that is not in the vocabulary.
[[nodiscard]] CrossEntropy linear_cross_entropy(const Var& x, const Var& w, const Var& bias,
                                                std::span<const std::int32_t> targets,
                                                const CrossEntropyOptions& how = {});

}  // namespace fovea
