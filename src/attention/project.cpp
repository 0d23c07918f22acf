// a linear map of rows
//   forward   y = x op(W) + b          op(W) = W' or W
//   backward  dx = dy op(W)',  dop(W) = x' dy,  db = sum of the rows of dy
#include "attention/project.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attention/rows/rows_scratch.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"

namespace fovea::attention {
namespace {

using kernels::Trans;

// x itself, or a copy in which rows without gradient are 0 when x holds NaN or infinity.
Tensor rows_that_count(const Tensor& x, const Tensor& dy, Int in, Int out) {
  const Int rows = in == 0 ? 0 : x.size() / in;
  if (all_finite({x.data(), 0, 0, x.size()}, 0, 0, 1, x.size())) return x;
  Tensor copy = x.clone();
  for (Int r = 0; r < rows; ++r) {
    const float* d = dy.data() + r * out;
    if (std::all_of(d, d + out, [](float v) { return v == 0.0F; })) std::fill_n(copy.data() + r * in, in, 0.0F);
  }
  return copy;
}

Var project_rows(const Var& x, const Var& w, const Var& b, Int heads, Int in, Int first, Trans trans) {
  if (w.rank() != 2 || x.rank() < 1 || x.dim(-1) != heads * in || (trans == Trans::yes && first + in > w.dim(1))) {
    throw ShapeError(fmt::format("attention: a map {} cannot be applied to rows {}{}", w.shape().text(),
                                 x.shape().text(), heads > 1 ? fmt::format(" of {} heads", heads) : ""));
  }
  const Int out = trans == Trans::yes ? w.dim(0) : w.dim(1);
  if (b && !(b.shape() == Shape{out})) {
    throw ShapeError(fmt::format("attention: bias {} where [{}] is needed", b.shape().text(), out));
  }
  const Tensor rows = x.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const Int ldw = weight.dim(1);
  Shape shape = x.shape();
  shape.set(-1, heads * out);
  const Tensor y = Tensor::empty(shape);
  const Int n = out == 0 ? 0 : y.size() / out;
  const float beta = b ? 1.0F : 0.0F;
  const Tensor bias = b ? b.value().contiguous() : Tensor();
  for (Int r = 0; b && r < n; ++r) std::copy_n(bias.data(), out, y.data() + r * out);
  kernels::parallel_gemm(Trans::no, trans, n, out, in, rows.data(), in, weight.data() + first, ldw, beta, y.data(),
                         out);
  return record(y, {x, w, b}, [x, w, b, rows, weight, n, in, out, first, ldw, trans](const Tensor& dy) {
    if (x.requires_grad()) {
      const GradTarget dx = x.grad_target();
      kernels::parallel_gemm(Trans::no, trans == Trans::yes ? Trans::no : Trans::yes, n, in, out, dy.data(), out,
                             weight.data() + first, ldw, dx.add ? 1.0F : 0.0F, dx.tensor.data(), in);
    }
    if (w.requires_grad()) {
      const Tensor counted = rows_that_count(rows, dy, in, out);
      const GradTarget dw = w.grad_target();
      if (!dw.add) dw.tensor.fill(0.0F);
      if (trans == Trans::yes) {
        kernels::parallel_gemm(Trans::yes, Trans::no, out, in, n, dy.data(), out, counted.data(), in, 1.0F,
                               dw.tensor.data() + first, ldw);
      } else {
        kernels::parallel_gemm(Trans::yes, Trans::no, in, out, n, counted.data(), in, dy.data(), out, 1.0F,
                               dw.tensor.data(), ldw);
      }
    }
    if (b.requires_grad()) {
      const GradTarget db = b.grad_target();
      if (!db.add) db.tensor.fill(0.0F);
      for (Int r = 0; r < n; ++r) {
        for (Int c = 0; c < out; ++c) db.tensor.data()[c] += dy.data()[r * out + c];
      }
    }
  });
}

}  // namespace

Var project(const Var& x, const Var& w, const Var& b, Int heads, Int first) {
  return project_rows(x, w, b, heads, x.rank() == 0 ? 0 : x.dim(-1) / heads, first, Trans::yes);
}

Var project_plain(const Var& x, const Var& w, const Var& b, Int heads) {
  return project_rows(x, w, b, heads, w.rank() == 2 ? w.dim(0) : 0, 0, Trans::no);
}

}  // namespace fovea::attention
