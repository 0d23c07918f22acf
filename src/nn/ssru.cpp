#include "fovea/nn/ssru.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rnn.hpp"

namespace fovea {

Tensor Ssru::step(const Tensor& x, const Tensor& cell) const {
  const NoGrad quiet;
  if (x.rank() != 2 || !(x.shape() == cell.shape()) || !cell.is_contiguous()) {
    throw ShapeError(fmt::format("ssru: a step of {} with a cell of {}; both must be [rows, width]", x.shape().text(),
                                 cell.shape().text()));
  }
  const std::int64_t width = x.dim(1);
  const Tensor in = input(x).value().contiguous();
  const Tensor gates = forget(x).value().contiguous();
  Tensor y = Tensor::empty(x.shape());
  for (std::int64_t r = 0; r < x.dim(0); ++r) {
    kernels::active().rnn->ssru_forward(width, {.x = in.data() + r * width,
                                                .gate = gates.data() + r * width,
                                                .cell = cell.data() + r * width,
                                                .kept = nullptr,
                                                .out = y.data() + r * width});
  }
  return y;
}

}  // namespace fovea
