// elementwise sum of two tensors of one shape
//   forward   y = a + b
//   backward  da = dy,  db = dy
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var add(const Var& a, const Var& b) {
  if (!(a.shape() == b.shape())) {
    throw ShapeError(fmt::format("add: {} and {} differ", a.shape().text(), b.shape().text()));
  }
  const Tensor x = a.value().contiguous();
  const Tensor z = b.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = x.data()[i] + z.data()[i];
  return record(y, {a, b}, [a, b](const Tensor& dy) {
    a.accumulate(dy);
    b.accumulate(dy);
  });
}

}  // namespace fovea
