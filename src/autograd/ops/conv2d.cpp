// convolution over pictures [B, H, W, C]
//   forward   y_p = f(b + sum over the pixels q of p's window  x_q W_(p,q)), f the identity or the rectifier
//   backward  with dy = 0 where the rectifier gave 0:
//             dx_q = sum over the windows p that hold q  dy_p W_(p,q)',  dW = sum_p window_p' dy_p,  db = sum_p dy_p
// Windows are copied out in blocks that stay in the cache, and each block is one product; all windows at once never
// exist. Windows of one pixel are the picture itself.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "autograd/convolution/pixels.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/convolution.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

using kernels::parallel_gemm;
using kernels::Trans;

// Windows per block: about half a megabyte of them, at least a few register tiles.
std::int64_t block_size(const Pixels& p) {
  return std::clamp<std::int64_t>((1 << 17) / std::max<std::int64_t>(1, p.depth()), 28, 448);
}

void add_columns(const float* x, std::int64_t rows, std::int64_t columns, float* sums) {
  for (std::int64_t r = 0; r < rows; ++r, x += columns) {
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += x[i];
  }
}

constexpr std::int64_t kParts = 8;  // of a sum over windows; not by threads, or bytes would depend on their number

// dW and db in parts, each over its own blocks, added in order at the end.
void weight_gradients(const Pixels& p, const Tensor& x, const Tensor& dy, const Var& weights, const Var& bias) {
  const std::int64_t out = dy.dim(-1);
  const std::int64_t depth = p.depth();
  const std::int64_t block = block_size(p);
  const std::int64_t blocks = (p.windows() + block - 1) / block;
  const std::int64_t parts = std::clamp<std::int64_t>(blocks, 1, kParts);
  const Tensor dw = Tensor::zeros({parts, depth, out});
  const Tensor db = Tensor::zeros({parts, out});
  parallel_for(parts, 1, [&](std::int64_t part, std::int64_t) {
    const Tensor rows = p.single() ? Tensor() : Tensor::empty({block, depth});
    for (std::int64_t k = part * blocks / parts; k < (part + 1) * blocks / parts; ++k) {
      const std::int64_t begin = k * block;
      const std::int64_t end = std::min(begin + block, p.windows());
      const float* from = dy.data() + begin * out;
      if (rows) p.gather(x.data(), begin, end, rows.data());
      const float* windows = rows ? rows.data() : x.data() + begin * depth;
      parallel_gemm(Trans::yes, Trans::no, depth, out, end - begin, windows, depth, from, out, 1,
                    dw.data() + part * depth * out, out);
      add_columns(from, end - begin, out, db.data() + part * out);
    }
  });
  for (std::int64_t part = 1; part < parts; ++part) {
    add_columns(dw.data() + part * depth * out, 1, depth * out, dw.data());
    add_columns(db.data() + part * out, 1, out, db.data());
  }
  weights.accumulate(dw.select(0, 0));
  bias.accumulate(db.select(0, 0));
}

// Pictures are the units of work: windows of one picture overlap.
void input_gradient(const Pixels& p, const Tensor& w, const Tensor& dy, const Var& x) {
  const std::int64_t out = dy.dim(-1);
  const std::int64_t depth = p.depth();
  const std::int64_t block = block_size(p);
  const kernels::PackedMatrix packed(Trans::yes, out, depth, w.data(), out);
  const GradTarget dx = x.grad_target();
  if (p.single()) {
    parallel_for(p.windows(), block, [&](std::int64_t begin, std::int64_t end) {
      kernels::gemm_packed(end - begin, dy.data() + begin * out, out, packed, dx.add ? 1.0F : 0.0F,
                           dx.tensor.data() + begin * depth, depth);
    });
    return;
  }
  parallel_for(p.batch, 1, [&](std::int64_t picture, std::int64_t) {
    const Tensor rows = Tensor::empty({block, depth});
    if (!dx.add) dx.tensor.slice(0, picture, picture + 1).fill(0);
    const std::int64_t stop = (picture + 1) * p.per_picture();
    for (std::int64_t begin = picture * p.per_picture(); begin < stop; begin += block) {
      const std::int64_t end = std::min(begin + block, stop);
      kernels::gemm_packed(end - begin, dy.data() + begin * out, out, packed, 0, rows.data(), depth);
      p.scatter_add(rows.data(), begin, end, dx.tensor.data());
    }
  });
}

}  // namespace

Var conv2d(const Var& x, const Var& weights, const Var& bias, const Window2d& window, Activation activation) {
  if (activation != Activation::none && activation != Activation::relu) {
    throw UsageError("conv2d: activation: none or relu is needed");
  }
  const Pixels p("conv2d", x.shape(), window);
  if (weights.rank() != 2 || weights.dim(0) != p.depth() || !bias || !(bias.shape() == Shape{weights.dim(1)})) {
    throw ShapeError(fmt::format("conv2d: weights {} and bias {} for windows of {}x{} on {}; [{},O] and [O] are needed",
                                 weights.shape().text(), bias ? bias.shape().text() : std::string("none"),
                                 window.height, window.width, x.shape().text(), p.depth()));
  }
  const std::int64_t out = weights.dim(1);
  const std::int64_t depth = p.depth();
  const Tensor input = x.value().contiguous();
  const Tensor w = weights.value().contiguous();
  const Tensor b = bias.value().contiguous();
  const Tensor y = Tensor::empty(p.out_shape(out));
  const kernels::PackedMatrix packed(Trans::no, depth, out, w.data(), out);
  const std::int64_t block = block_size(p);
  parallel_for(p.windows(), block, [&](std::int64_t begin, std::int64_t end) {
    const Tensor rows = p.single() ? Tensor() : Tensor::empty({end - begin, depth});
    if (rows) p.gather(input.data(), begin, end, rows.data());
    kernels::gemm_packed(end - begin, rows ? rows.data() : input.data() + begin * depth, depth, packed, 0,
                         y.data() + begin * out, out, {.bias = b.data(), .activation = activation});
  });
  const Tensor kept = activation == Activation::relu ? y : Tensor();
  return record(y, {x, weights, bias}, [p, x, weights, bias, input, w, kept](const Tensor& gradient) {
    Tensor dy = gradient.contiguous();
    if (kept) {
      const Tensor through = Tensor::empty(dy.shape());
      const auto relu_backward = kernels::active().math->relu_backward;
      elementwise(dy.size(), [&](std::int64_t i, std::size_t n) {
        relu_backward(kept.data() + i, dy.data() + i, through.data() + i, n, false);
      });
      dy = through;
    }
    if (weights.requires_grad() || bias.requires_grad()) weight_gradients(p, input, dy, weights, bias);
    if (x.requires_grad()) input_gradient(p, w, dy, x);
  });
}

}  // namespace fovea
