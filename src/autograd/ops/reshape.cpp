// the same values in another shape, or with two axes exchanged
//   forward   y = x in another shape (a view where the values are packed)
//   backward  dx = dy in the shape of x
#include "fovea/ops.hpp"

namespace fovea {

Var reshape(const Var& x, const Shape& shape) {
  return record(x.value().reshape(shape), {x}, [x](const Tensor& dy) { x.accumulate(dy.reshape(x.shape())); });
}

Var transpose(const Var& x, int a, int b) {
  return record(x.value().transpose(a, b), {x}, [x, a, b](const Tensor& dy) { x.accumulate(dy.transpose(a, b)); });
}

}  // namespace fovea
