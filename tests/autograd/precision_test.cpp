// What layers make of a precision: in bf16 outputs and gradients stay near those in fp32, and are others.
#include "fovea/precision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "fovea/ops.hpp"
#include "fovea/recurrent.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

Var parameter(const Shape& shape, unsigned seed, float scale) {
  return Var::parameter(test::random_tensor(shape, seed, scale));
}

// The output and the gradients of `inputs`, one behind the other.
std::vector<float> all_values(const std::vector<Var>& inputs, const std::function<Var()>& layer) {
  for (const Var& v : inputs) v.zero_grad();
  const Var y = layer();
  backward(sum(mul(y, y)));
  std::vector<float> values(y.value().values().begin(), y.value().values().end());
  for (const Var& v : inputs) {
    values.insert(values.end(), v.grad().values().begin(), v.grad().values().end());
  }
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double apart = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(apart / size);
}

void expect_near_fp32(const std::vector<Var>& inputs, const std::function<Var()>& layer, const char* what) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    const std::vector<float> exact = all_values(inputs, layer);
    const ScopedPrecision products(Precision::bf16);
    const std::vector<float> rounded = all_values(inputs, layer);
    EXPECT_EQ(all_values(inputs, layer), rounded) << what << ' ' << table->name;
    const double far = distance(rounded, exact);
    EXPECT_LT(far, 0.01) << what << ' ' << table->name;
    if (kernels::permitted_bf16() != nullptr) {
      EXPECT_GT(far, 1e-5) << what << ' ' << table->name;
    } else {
      EXPECT_EQ(far, 0) << what << ' ' << table->name;
    }
  }
}

TEST(Precision, LayersInBf16StayNearFp32) {
  const Var x = parameter({40, 96}, 1, 1.0F);
  const Var w = parameter({96, 80}, 2, 0.2F);
  const Var b = parameter({80}, 3, 0.2F);
  expect_near_fp32(
      {x, w, b}, [&] { return linear(x, w, b); }, "linear");

  const Var steps = parameter({5, 6, 96}, 4, 1.0F);
  const LstmWeights lstm_weights{parameter({96, 4 * 64}, 5, 0.2F), parameter({64, 4 * 64}, 6, 0.2F),
                                 parameter({4 * 64}, 7, 0.2F)};
  const std::vector<std::int64_t> lengths{6, 6, 4, 3, 1};
  expect_near_fp32(
      {steps, lstm_weights.input, lstm_weights.state, lstm_weights.bias},
      [&] { return lstm(steps, lstm_weights, {.lengths = lengths}).states; }, "lstm");
}

}  // namespace
}  // namespace fovea
