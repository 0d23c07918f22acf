// A program that depends on Fovea: one header, one target.
#include <cstdio>
#include <fovea/fovea.hpp>

int main() {
  const fovea::Var x = fovea::Var::parameter(fovea::Tensor::of({2}, {1, 2}));
  fovea::backward(fovea::sum(x + x));
  std::printf("%g %g\n", x.grad().data()[0], x.grad().data()[1]);
  return x.grad().data()[1] == 2.0F ? 0 : 1;
}
