#include "fovea/nn/linear.hpp"

namespace fovea {

Var Linear::operator()(const Var& x, Activation activation, const Dropout& dropout) const {
  if (!weight.packed || dropout.rate > 0 || recording({x, weight.var})) {
    return linear(x, weight.values(), bias, activation, dropout);
  }
  return weight.product(x.value(), bias ? bias.value() : Tensor(), activation);
}

}  // namespace fovea
