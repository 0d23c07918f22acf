// A score of your own: -(q - k)^2 / 2s^2 turns attention into kernel regression (Nadaraya and Watson 1964). The keys
// are where a function was measured, the values what was measured, the queries where one wants to know it. Given the
// score's gradient, gradients flow: here to the points of measurement.
#include <cmath>
#include <cstdio>
#include <vector>

#include "fovea/fovea.hpp"

int main() {
  using namespace fovea;
  std::vector<float> where, what;
  for (int i = 0; i <= 40; ++i) {
    where.push_back(0.1F * static_cast<float>(i));
    what.push_back(std::sin(where.back()));
  }
  const Var keys = Var::parameter(Tensor::of({1, 41, 1}, where));
  const Tensor values = Tensor::of({1, 41, 1}, what);
  const Tensor queries = Tensor::of({1, 3, 1}, {0.55F, 1.57F, 3.14F});

  const score::Pairwise near{.score = [](auto q, auto k) { return -50 * (q[0] - k[0]) * (q[0] - k[0]); },
                             .gradient =
                                 [](auto q, auto k, float d, auto dq, auto dk) {
                                   dq[0] += d * -100 * (q[0] - k[0]);
                                   dk[0] += d * 100 * (q[0] - k[0]);
                                 }};
  const Var read = attend(queries, keys, values, {.score = near}).context;
  for (int i = 0; i < 3; ++i) {
    const float x = queries.data()[i];
    std::printf("at %.2f: %.2f, sin %.2f\n", x, read.value().data()[i], std::sin(x));
  }
  backward(sum(read));
  std::printf("d(sum)/d(where it was measured at 0.5, 0.6): %.2f %.2f\n", keys.grad().data()[5], keys.grad().data()[6]);
}
