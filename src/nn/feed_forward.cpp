#include "fovea/nn/feed_forward.hpp"

namespace fovea {

Var gelu_by_tanh(const Var& x) {
  constexpr float scaled = 2 * 0.7978845608F;  // twice sqrt(2 / pi)
  const Var cubic = scale(mul(mul(x, x), x), 0.044715F * scaled);
  return mul(x, sigmoid(add(scale(x, scaled), cubic)));
}

}  // namespace fovea
