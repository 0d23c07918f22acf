// The one gradient checker: compares what backward() gives with central differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "fovea/var.hpp"

namespace fovea::test {

inline Tensor random_tensor(const Shape& shape, unsigned seed, float scale = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  Tensor t = Tensor::empty(shape);
  for (float& v : t.values()) v = normal(generator);
  return t;
}

struct GradCheck {
  double step = 2e-2;       // of the differences
  double tolerance = 2e-3;  // of |analytic - numeric| / max(1, |numeric|)
  int per_input = 24;       // values checked per input, spread evenly; all when there are fewer
};

/// L = sum of r * function(), with fixed random r; dL/d(leaf) that backward() gives for every leaf is compared with the
/// fourth-order central difference (8(L(+h) - L(-h)) - (L(+2h) - L(-2h))) / 12h, gathered in double. The leaves are the
/// Vars that the function computes from; their gradients must be clear.
inline void check_gradients_of(const std::function<Var()>& function, const std::vector<Var>& leaves,
                               const GradCheck& how = {}) {
  const Var output = function();
  const Tensor r = random_tensor(output.shape(), 4711);
  backward(output, r);

  const auto loss = [&](float& value, double delta) {
    const NoGrad quiet;
    const float before = value;
    value = static_cast<float>(before + delta);
    const Tensor y = function().value().contiguous();
    value = before;
    double total = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) total += static_cast<double>(y.data()[i]) * r.data()[i];
    return total;
  };
  for (std::size_t which = 0; which < leaves.size(); ++which) {
    const Tensor& leaf = leaves[which].value();
    const Tensor grad = leaves[which].grad();
    const std::int64_t n = leaf.size();
    // A step that shares no factor with the width, so that all columns are met in turn; and the last value.
    std::int64_t stride = std::max<std::int64_t>(1, n / how.per_input);
    const std::int64_t width = leaf.rank() == 0 ? 1 : std::max<std::int64_t>(1, leaf.dim(-1));
    while (std::gcd(stride, width) != 1) ++stride;
    std::vector<std::int64_t> places;
    for (std::int64_t at = 0; at < n; at += stride) places.push_back(at);
    if (n > 0 && places.back() != n - 1) places.push_back(n - 1);
    for (const std::int64_t at : places) {
      const double h = how.step;
      float& value = leaf.data()[at];
      const double numeric =
          (8 * (loss(value, h) - loss(value, -h)) - (loss(value, 2 * h) - loss(value, -2 * h))) / (12 * h);
      const double analytic = grad.data()[at];
      EXPECT_NEAR(analytic, numeric, how.tolerance * std::max(1.0, std::abs(numeric)))
          << "leaf " << which << ", value " << at << " of " << leaf.shape().text();
    }
  }
}

/// The same for a function of inputs: every input is a leaf.
inline void check_gradients(const std::function<Var(const std::vector<Var>&)>& function,
                            const std::vector<Tensor>& inputs, const GradCheck& how = {}) {
  std::vector<Var> leaves;
  leaves.reserve(inputs.size());
  for (const Tensor& t : inputs) leaves.push_back(Var::parameter(t.clone()));
  check_gradients_of([&] { return function(leaves); }, leaves, how);
}

}  // namespace fovea::test
