// Causal self-attention: the weights, the context, and the gradient.
#include <cstdio>

#include "fovea/fovea.hpp"

int main() {
  const auto x = fovea::Var::parameter(fovea::Tensor::of({1, 3, 2}, {1, 0, 0, 1, 2, 1}));  // [batch, time, width]
  const auto result = fovea::attend(x, {.causal = true, .want = {.weights = true}});
  for (int i = 0; i < 3; ++i) {
    const fovea::Tensor weights = result.weights.value().select(0, 0).select(0, i);
    const fovea::Tensor context = result.context.value().select(0, 0).select(0, i);
    std::printf("step %d: weights %.2f %.2f %.2f, context (%.2f, %.2f)\n", i, weights.data()[0], weights.data()[1],
                weights.data()[2], context.data()[0], context.data()[1]);
  }
  fovea::backward(fovea::sum(result.context));
  std::printf("the gradient of the first step is (%.2f, %.2f)\n", x.grad().data()[0], x.grad().data()[1]);
}
