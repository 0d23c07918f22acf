#include "fovea/train/adam.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

// The paper's algorithm, in double, a value at a time.
TEST(Adam, FollowsTheAlgorithm) {
  AdamOptions options{.beta2 = 0.98F, .epsilon = 1e-9F};
  options.clip = 0.5F;
  options.weight_decay = 0.1F;
  options.ema = 0.4F;
  Parameters p(1);
  const Var w = p.get("w", {20001}, Init::ones);
  Adam adam(p, options);
  std::vector<double> x(20001, 1.0);
  std::vector<double> m(20001, 0.0);
  std::vector<double> v(20001, 0.0);
  std::vector<double> mean(20001, 1.0);
  Rng rng(2);
  for (int step = 1; step <= 9; ++step) {
    std::vector<double> g(20001);
    const Tensor grad = Tensor::empty({20001});
    double squares = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      grad.data()[i] = static_cast<float>(rng.normal());
      g[i] = 0.25 * grad.data()[i];
      squares += g[i] * g[i];
    }
    w.accumulate(grad);
    const double norm = adam.step(0.01, 0.25);
    const double keeps = std::min(0.4, step / (step + 9.0));  // at steps 1 to 5 less than ema, then ema
    EXPECT_NEAR(norm, std::sqrt(squares), 1e-6 * norm);
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double clipped = g[i] * 0.5 / std::sqrt(squares);
      m[i] = 0.9 * m[i] + 0.1 * clipped;
      v[i] = 0.98 * v[i] + 0.02 * clipped * clipped;
      x[i] -= 0.01 *
              (m[i] / (1 - std::pow(0.9, step)) / (std::sqrt(v[i] / (1 - std::pow(0.98, step))) + 1e-9) + 0.1 * x[i]);
      mean[i] = keeps * mean[i] + (1 - keeps) * x[i];
      ASSERT_NEAR(w.value().data()[i], x[i], 2e-5);
      ASSERT_NEAR(adam.mean()[0].data()[i], mean[i], 2e-5);
    }
  }
}

}  // namespace
}  // namespace fovea
