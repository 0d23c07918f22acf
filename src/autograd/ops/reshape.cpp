// the same values in another shape; nothing is copied
//   forward   y = x
//   backward  dx = dy
#include "fovea/ops.hpp"

namespace fovea {

Var reshape(const Var& x, const Shape& shape) {
  return record(x.value().reshape(shape), {x}, [x](const Tensor& dy) { x.accumulate(dy.reshape(x.shape())); });
}

}  // namespace fovea
