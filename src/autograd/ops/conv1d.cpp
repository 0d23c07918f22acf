// convolution over time, plain or through a gated linear unit
//   forward   S_t = sum_k x_{t - left + k} W_k + b;   y = S, or y = a s(g) with S = [a g]
//   backward  dS = dy, or [dy s(g), dy a s(g) (1 - s(g))]
//             dx_t = sum_k dS_{t + left - k} W_k',  dW_k = sum_t x_{t - left + k}' dS_t,  db = sum_t dS_t
// The windows over time are overlapping rows of one array (see Frames), so each sum over k is part of one product and
// no window is ever copied out. dx is such a product too: over windows of dS, with the W_k' in reverse order.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "autograd/convolution/frames.hpp"
#include "fovea/convolution.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/conv.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {
namespace {

using kernels::parallel_gemm;
using kernels::Trans;

constexpr std::int64_t kFramesPerTask = 112;

struct Kept {
  Frames frames;
  bool glu;
  std::int64_t width;  // K
  std::int64_t left;   // steps of a window before its own
  Var x, weights, bias;
  Tensor input;  // frames of x
  Tensor sums;   // frames of S, or of a and s(g); their gradients in the end
};

// [K in, out] to [K out, in]: the last tap first, each transposed.
Tensor reversed_transposed(const Tensor& w, std::int64_t taps) {
  const std::int64_t in = w.dim(0) / taps;
  const std::int64_t out = w.dim(1);
  Tensor r = Tensor::empty({taps * out, in});
  parallel_for(taps, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const float* from = w.data() + (taps - 1 - k) * in * out;
      float* to = r.data() + k * out * in;
      for (std::int64_t c = 0; c < in; ++c) {
        for (std::int64_t o = 0; o < out; ++o) to[o * in + c] = from[c * out + o];
      }
    }
  });
  return r;
}

// Gives the gradients of the sums, in place, and the bias's.
void sums_gradient(const Kept& k, const Tensor& dy) {
  const auto& conv = *kernels::active().conv;
  const std::int64_t out = k.sums.dim(1);
  const std::int64_t d = dy.dim(-1);
  const std::int64_t tasks = std::max<std::int64_t>(1, (k.frames.rows() + kFramesPerTask - 1) / kFramesPerTask);
  const Tensor partial = Tensor::zeros({tasks, out});
  parallel_for(k.frames.rows(), kFramesPerTask, [&](std::int64_t begin, std::int64_t end) {
    float* dbias = partial.data() + begin / kFramesPerTask * out;
    for (std::int64_t r = begin; r < end; ++r) {
      float* row = k.sums.data() + r * out;
      const std::int64_t user = k.frames.user_row(r);
      if (user < 0) {
        std::memset(row, 0, static_cast<std::size_t>(out) * sizeof(float));
      } else if (k.glu) {
        conv.glu_backward(d, row, dy.data() + user * d, dbias);
      } else {
        const float* from = dy.data() + user * d;
        for (std::int64_t i = 0; i < d; ++i) {
          row[i] = from[i];
          dbias[i] += from[i];
        }
      }
    }
  });
  if (!k.bias.requires_grad()) return;
  for (std::int64_t t = 1; t < tasks; ++t) {
    for (std::int64_t i = 0; i < out; ++i) partial.data()[i] += partial.data()[t * out + i];
  }
  k.bias.accumulate(partial.slice(0, 0, 1).reshape({out}));
}

void run(const Kept& k, const Tensor& gradient) {
  const Tensor dy = gradient.contiguous();
  sums_gradient(k, dy);
  const std::int64_t in = k.input.dim(1);
  const std::int64_t out = k.sums.dim(1);
  const std::int64_t windows = k.frames.rows() - k.width + 1;
  if (k.weights.requires_grad()) {
    const GradTarget dw = k.weights.grad_target();
    if (windows > 0) {
      parallel_gemm(Trans::yes, Trans::no, k.width * in, out, windows, k.input.data(), in, k.sums.data() + k.left * out,
                    out, dw.add ? 1.0F : 0.0F, dw.tensor.data(), out);
    } else if (!dw.add) {
      dw.tensor.fill(0);
    }
  }
  if (k.x.requires_grad()) {
    const Tensor w = reversed_transposed(k.weights.value().contiguous(), k.width);
    const Tensor dx = Tensor::empty({k.frames.rows(), in});
    // A window of dS that ends up at row r of dx starts `right` rows before it.
    const std::int64_t right = k.width - 1 - k.left;
    parallel_gemm(Trans::no, Trans::no, std::max<std::int64_t>(0, windows), in, k.width * out, k.sums.data(), out,
                  w.data(), in, 0, dx.data() + right * in, in);
    const GradTarget target = k.x.grad_target();
    k.frames.unframe(dx, target.tensor.reshape({-1, in}), target.add);
  }
}

Var convolve(const char* op, bool glu, const Var& x, const Var& weights, const Var& bias, const Conv1dOptions& how) {
  const Shape shape = weights || how.packed == nullptr ? weights.shape() : Shape{how.packed->in(), how.packed->out()};
  if (x.rank() != 3 || shape.rank() != 2 || x.dim(2) == 0 || shape[0] == 0 || shape[0] % x.dim(2) != 0 ||
      (glu && shape[1] % 2 != 0)) {
    throw ShapeError(fmt::format("{}: weights {} on an input {}; [K C,{}] on [B,T,C] is needed", op, shape.text(),
                                 x.shape().text(), glu ? "2 D" : "O"));
  }
  const std::int64_t in = x.dim(2);
  const std::int64_t out = shape[1];
  if (!bias || !(bias.shape() == Shape{out})) {
    throw ShapeError(
        fmt::format("{}: bias {} where [{}] is needed", op, bias ? bias.shape().text() : std::string("none"), out));
  }
  const std::int64_t width = shape[0] / in;
  const std::int64_t left = how.padding == TimePadding::causal ? width - 1 : (width - 1) / 2;
  const std::int64_t gap = std::max(left, width - 1 - left);
  Kept k{Frames(op, x.dim(0), x.dim(1), how.lengths, gap), glu, width, left, x, weights, bias, {}, {}};
  k.input = k.frames.frame(x.value().contiguous());
  k.sums = Tensor::empty({k.frames.rows(), out});
  const std::int64_t d = glu ? out / 2 : out;
  const Tensor y = Tensor::empty({x.dim(0), x.dim(1), d});
  k.frames.zero_padding(y);
  const bool use_packed = how.packed != nullptr && !recording({x, weights, bias});
  const Tensor w = use_packed ? Tensor() : weights.value().contiguous();
  const kernels::PackedMatrix made =
      use_packed ? kernels::PackedMatrix() : kernels::PackedMatrix(Trans::no, width * in, out, w.data(), out);
  const kernels::PackedMatrix& packed = use_packed ? matrix_of(*how.packed) : made;
  const Tensor b = bias.value().contiguous();
  const auto& conv = *kernels::active().conv;
  // The products of a block of windows, and while they are in the cache what becomes of them.
  parallel_for(std::max<std::int64_t>(0, k.frames.rows() - width + 1), kFramesPerTask,
               [&](std::int64_t begin, std::int64_t end) {
                 float* sums = k.sums.data() + (begin + left) * out;
                 kernels::gemm_packed(end - begin, k.input.data() + begin * in, in, packed, 0, sums, out);
                 for (std::int64_t r = begin; r < end; ++r, sums += out) {
                   const std::int64_t user = k.frames.user_row(r + left);
                   if (user < 0) continue;
                   float* to = y.data() + user * d;
                   if (glu) {
                     conv.glu_forward(d, sums, b.data(), to);
                   } else {
                     for (std::int64_t i = 0; i < d; ++i) to[i] = sums[i] + b.data()[i];
                   }
                 }
               });
  return record(y, {x, weights, bias}, [k = std::move(k)](const Tensor& dy) { run(k, dy); });
}

}  // namespace

Var conv1d(const Var& x, const Var& weights, const Var& bias, const Conv1dOptions& how) {
  return convolve("conv1d", false, x, weights, bias, how);
}

Var conv1d_glu(const Var& x, const Var& weights, const Var& bias, const Conv1dOptions& how) {
  return convolve("conv1d_glu", true, x, weights, bias, how);
}

}  // namespace fovea
