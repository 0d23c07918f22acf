// An op of your own on the tape, and a check of its gradient: softsign(x) = x / (1 + |x|).
#include <cmath>
#include <cstdio>

#include "fovea/fovea.hpp"

using namespace fovea;

//   forward   y = x s,  s = 1 / (1 + |x|)
//   backward  dx = dy s^2
Var softsign(const Var& x) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = in.data()[i] / (1 + std::abs(in.data()[i]));
  return record(y, {x}, [x, in](const Tensor& dy) {
    const Tensor dx = Tensor::empty(in.shape());
    for (std::int64_t i = 0; i < dx.size(); ++i) {
      const float s = 1 / (1 + std::abs(in.data()[i]));
      dx.data()[i] = dy.contiguous().data()[i] * s * s;
    }
    x.accumulate(dx);
  });
}

int main() {
  const Tensor at = Tensor::of({4}, {-2, -0.5F, 1, 3});
  const Var x = Var::parameter(at.clone());
  backward(sum(softsign(x)));
  for (std::int64_t i = 0; i < 4; ++i) {
    // Central differences: what the loss does when one value moves a little.
    constexpr float kStep = 0.01F;
    const auto loss = [&](float change) {
      const Tensor moved = at.clone();
      moved.data()[i] += change;
      return sum(softsign(Var(moved))).value().item();
    };
    const float numeric = (loss(kStep) - loss(-kStep)) / (2 * kStep);
    std::printf("at %4.1f: softsign %5.2f, gradient %5.2f, by differences %5.2f\n", at.data()[i],
                softsign(Var(at)).value().data()[i], x.grad().data()[i], numeric);
  }
}
