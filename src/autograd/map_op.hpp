// Ops that are one elementwise kernel each way.
#pragma once

#include "autograd/elementwise.hpp"
#include "fovea/var.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

/// What an elementwise gradient is computed from.
enum class Saved { input, output };

/// y = f(x), dx = g(saved, dy).
inline Var map_op(const Var& x, kernels::Map kernels::MathKernels::*f, kernels::MapGrad kernels::MathKernels::*g,
                  Saved saved) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  const auto forward = kernels::active().math->*f;
  elementwise(y.size(), [&](std::int64_t i, std::size_t n) { forward(in.data() + i, y.data() + i, n); });
  return record(y, {x}, [x, g, kept = saved == Saved::input ? in : y](const Tensor& dy) {
    const GradTarget target = x.grad_target();
    const auto backward = kernels::active().math->*g;
    elementwise(dy.size(), [&](std::int64_t i, std::size_t n) {
      backward(kept.data() + i, dy.data() + i, target.tensor.data() + i, n, target.add);
    });
  });
}

}  // namespace fovea
