// A program of somebody else: one header, one target.
#include <cstdio>
#include <fovea/fovea.hpp>

int main() {
  const fovea::Var x = fovea::Var::parameter(fovea::Tensor::of({2}, {1, 2}));
  fovea::backward(fovea::sum(fovea::add(x, x)));
  std::printf("%g %g\n", x.grad().data()[0], x.grad().data()[1]);
  return x.grad().data()[1] == 2.0F ? 0 : 1;
}
