// Scores of your own inside the fused kernels: a function of each score and its positions, with its derivative, and a
// sparse map of the visible pairs.
#include <cmath>
#include <cstdio>

#include "fovea/fovea.hpp"

using namespace fovea;

int main() {
  const auto x = Var::parameter(Tensor::full({1, 256, 8}, 0.5F));  // [batch, time, width]
  const auto recency = score_modifier([](float s, auto q, auto k) { return s - std::log1p(std::abs(float(q - k))); },
                                      [](float, auto, auto) { return 1.0F; });
  const auto weights_of = [](const Attended& attended) { return attended.top.weight.select(0, 0).select(0, 255); };

  const Attended near = attend(x, {.causal = true, .modifiers = {recency}, .want = {.top = 3}});
  const Tensor weights = weights_of(near);
  std::printf("the last query attends to keys %d, %d, %d with %.3f, %.3f, %.3f\n", int(near.top.index[255 * 3]),
              int(near.top.index[255 * 3 + 1]), int(near.top.index[255 * 3 + 2]), weights.data()[0], weights.data()[1],
              weights.data()[2]);

  const auto even = BlockMask::of(256, 256, [](auto q, auto k) { return k <= q && q / 64 == k / 64 && k % 2 == 0; });
  const Attended sparse = attend(x, {.blocks = even, .want = {.top = 1}});
  std::printf("with a map of %d of 16 tiles, a weight is %.4f\n", int(even.tiles().partial + even.tiles().full),
              weights_of(sparse).data()[0]);

  backward(sum(near.context) + sum(sparse.context));
  std::printf("the gradient of the last step is %.3f\n", x.grad().data()[255 * 8]);
}
