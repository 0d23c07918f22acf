// Attention in your own program: a query attends to three keys and reads their values.
#include <cstdio>

#include "fovea/fovea.hpp"

int main() {
  using fovea::Tensor;
  const Tensor query = Tensor::of({1, 1, 2}, {1, 0});             // [batch, queries, width]
  const Tensor keys = Tensor::of({1, 3, 2}, {4, 0, 0, 4, 2, 2});  // [batch, keys, width]
  const Tensor values = Tensor::of({1, 3, 1}, {10, 20, 30});      // [batch, keys, any width]
  const fovea::Attended result = fovea::attend(query, keys, values, {.want = {.weights = true}});
  const float* w = result.weights.value().data();
  std::printf("weights %.2f %.2f %.2f, context %.2f\n", w[0], w[1], w[2], result.context.value().item());
}
