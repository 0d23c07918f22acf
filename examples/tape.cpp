// A gradient in five lines.
#include <cstdio>

#include "fovea/fovea.hpp"

int main() {
  const auto x = fovea::Var::parameter(fovea::Tensor::of({3}, {1, 2, 3}));
  const auto loss = fovea::sum(x + x);
  fovea::backward(loss);
  std::printf("loss %.1f, gradient %.1f %.1f %.1f\n", loss.value().item(), x.grad().data()[0], x.grad().data()[1],
              x.grad().data()[2]);
}
