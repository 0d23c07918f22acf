// stack_rows, join_steps   values are moved; so are gradients
// head_dots   forward  y_h = x_h . a_h            backward  dx_h = dy_h a_h,  da_h = sum dy_h x_h
// sigmoid_of  forward  y = 1 / (1 + exp(-x))      backward  dx = y (1 - y) dy
// elu_of      forward  y = x, or exp(x) - 1 < 0   backward  dx = dy, or (y + 1) dy
#include "attention/mechanisms/small_ops.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/arena.hpp"

namespace fovea::attention {

using Int = std::int64_t;

Var xavier(Int rows, Int columns, Rng& rng) {
  const Tensor t = Tensor::empty({rows, columns});
  const double reach = std::sqrt(6.0 / static_cast<double>(rows + columns));
  for (float& x : t.values()) x = static_cast<float>((2 * rng.uniform() - 1) * reach);
  return Var::parameter(t);
}

Var normal(const Shape& shape, double deviation, Rng& rng) {
  const Tensor t = Tensor::empty(shape);
  for (float& x : t.values()) x = static_cast<float>(rng.normal() * deviation);
  return Var::parameter(t);
}

Var zero_parameter(const Shape& shape) {
  return Var::parameter(Tensor::zeros(shape));
}

namespace {

// Moves blocks of `width` values: part p's block r stands at block r * count + p of the whole.
void interleave(float* whole, float* part, Int p, Int count, Int rows, Int width, bool into) {
  for (Int r = 0; r < rows; ++r) {
    float* at = whole + (r * count + p) * width;
    float* from = part + r * width;
    into ? std::copy_n(from, width, at) : std::copy_n(at, width, from);
  }
}

Var interleaved(std::span<const Var> parts, Int rows, Int width, const Shape& shape) {
  const auto count = static_cast<Int>(parts.size());
  const Tensor y = Tensor::empty(shape);
  for (Int p = 0; p < count; ++p) {
    interleave(y.data(), parts[static_cast<std::size_t>(p)].value().contiguous().data(), p, count, rows, width, true);
  }
  Var out;
  // The tape keeps the parts as the step's inputs; these handles are for the backward.
  const std::vector<Var, ArenaAllocator<Var>> kept(parts.begin(), parts.end());
  record({{&out, y}}, parts, [kept, rows, width, count](std::span<const Tensor> grads) {
    for (Int p = 0; p < count; ++p) {
      const Var& part = kept[static_cast<std::size_t>(p)];
      if (!part.requires_grad()) continue;
      const Tensor d = Tensor::empty(part.shape());
      interleave(grads[0].data(), d.data(), p, count, rows, width, false);
      part.accumulate(d);
    }
  });
  return out;
}

}  // namespace

Var stack_rows(std::span<const Var> parts) {
  const Int width = parts[0].dim(-1);
  const Int rows = width == 0 ? 0 : parts[0].size() / width;
  return interleaved(parts, rows, width, {rows, static_cast<Int>(parts.size()), width});
}

Var join_steps(std::span<const Var> steps) {
  const Int batch = steps[0].dim(0), width = steps[0].dim(-1);
  return interleaved(steps, batch, width, {batch, static_cast<Int>(steps.size()), width});
}

Var head_dots(const Var& x, const Var& a) {
  const Tensor in = x.value().contiguous();
  const Tensor vectors = a.value().contiguous();
  const Int heads = a.dim(0), d = a.dim(1);
  const Int rows = in.size() / std::max<Int>(1, heads * d);
  Shape shape = x.shape();
  shape.set(-1, heads);
  const Tensor y = Tensor::empty(shape);
  for (Int r = 0; r < rows * heads; ++r) {
    float sum = 0;
    for (Int i = 0; i < d; ++i) sum += in.data()[r * d + i] * vectors.data()[r % heads * d + i];
    y.data()[r] = sum;
  }
  return record(y, {x, a}, [x, a, in, vectors, heads, d, rows](const Tensor& dy) {
    const Tensor dx = Tensor::empty(x.shape());
    const Tensor da = Tensor::zeros(a.shape());
    for (Int r = 0; r < rows * heads; ++r) {
      const Int at = r % heads * d;
      for (Int i = 0; i < d; ++i) {
        dx.data()[r * d + i] = dy.data()[r] * vectors.data()[at + i];
        da.data()[at + i] += dy.data()[r] * in.data()[r * d + i];
      }
    }
    x.accumulate(dx);
    a.accumulate(da);
  });
}

namespace {

// y = f(x) value by value, with the slope a function of y.
template <class F, class Slope>
Var elementwise(const Var& x, F f, Slope slope) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  for (Int i = 0; i < y.size(); ++i) y.data()[i] = f(in.data()[i]);
  return record(y, {x}, [x, y, slope](const Tensor& dy) {
    const Tensor dx = Tensor::empty(x.shape());
    for (Int i = 0; i < dx.size(); ++i) dx.data()[i] = dy.data()[i] * slope(y.data()[i]);
    x.accumulate(dx);
  });
}

}  // namespace

Var sigmoid_of(const Var& x) {
  return elementwise(
      x, [](float v) { return 1.0F / (1.0F + std::exp(-v)); }, [](float y) { return y * (1 - y); });
}

Var elu_of(const Var& x) {
  return elementwise(
      x, [](float v) { return v > 0 ? v : std::expm1(v); }, [](float y) { return y > 0 ? 1.0F : y + 1; });
}

}  // namespace fovea::attention
