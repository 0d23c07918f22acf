// what follows a linear layer, in one pass
//   forward   y = dropout(f(x + bias))
//   backward  dx = f'(x + bias) * dropout's mask * dy,  dbias = sum over rows of dx
// f' comes from y where it can, and from x where gradient_needs_x().
#include <fmt/format.h>

#include <optional>

#include "autograd/chunk_sums.hpp"
#include "autograd/dropout.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

Var bias_activation(const Var& x, const Var& bias, Activation activation, const Dropout& dropout) {
  const kernels::Dropout how = make_dropout("bias_activation", dropout);
  if (x.rank() == 0 || (bias && !(bias.shape() == Shape{x.dim(-1)})) || (bias && !bias.value().is_contiguous())) {
    throw ShapeError(fmt::format("bias_activation: a bias of shape {} for a value of shape {}",
                                 bias ? bias.shape().text() : "[]", x.shape().text()));
  }
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  const std::int64_t width = in.dim(-1);
  const std::int64_t rows = width == 0 ? 0 : in.size() / width;
  const float* b = bias ? bias.value().data() : nullptr;
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t i = first * width;
    kernels::active().rows->bias_activation({.rows = count,
                                             .width = width,
                                             .activation = activation,
                                             .x = in.data() + i,
                                             .bias = b,
                                             .y = y.data() + i,
                                             .dropout = from_value(how, i)});
  });
  const bool from_x = kernels::gradient_needs_x(activation);
  const auto backward = [x, bias, how, activation, rows, width, kept_x = from_x ? in : Tensor(),
                         kept_y = from_x ? Tensor() : y](const Tensor& dy) {
    const GradTarget dx = x.requires_grad() ? x.grad_target() : GradTarget{Tensor::empty(dy.shape()), false};
    std::optional<ChunkSums> dbias;
    if (bias.requires_grad()) dbias.emplace(rows, width);
    by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
      const std::int64_t i = first * width;
      kernels::active().rows->bias_activation_backward({.rows = count,
                                                        .width = width,
                                                        .activation = activation,
                                                        .x = kept_x ? kept_x.data() + i : nullptr,
                                                        .bias = bias ? bias.value().data() : nullptr,
                                                        .y = kept_y ? kept_y.data() + i : nullptr,
                                                        .dropout = from_value(how, i),
                                                        .dy = dy.data() + i,
                                                        .dx = dx.tensor.data() + i,
                                                        .add = dx.add,
                                                        .dbias = dbias ? dbias->of(first) : nullptr});
    });
    if (dbias && rows > 0) dbias->add_to(bias.grad_target());
  };
  return bias ? record(y, {x, bias}, backward) : record(y, {x}, backward);
}

}  // namespace fovea
