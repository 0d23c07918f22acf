// repeat     forward  y_n = x for every n             backward  dx = sum_n dy_n, in order
// add_outer  forward  y_bt = k_bt + c_bt w            backward  dk = dy,  dc_bt = dy_bt . w,  dw = sum c_bt dy_bt
#include "attention/repeat.hpp"

#include <algorithm>

#include "fovea/threads.hpp"

namespace fovea::attention {
namespace {

using Int = std::int64_t;

// `times` copies of the first `count` values of x, as `shape`.
Var repeat(const Var& x, Int count, Int times, const Shape& shape) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(shape);
  for (Int n = 0; n < times; ++n) std::copy_n(in.data(), count, y.data() + n * count);
  return record(y, {x}, [x, count, times](const Tensor& dy) {
    const GradTarget dx = x.grad_target();
    if (!dx.add) dx.tensor.fill(0.0F);
    parallel_for(count, 4096, [&](Int begin, Int end) {
      for (Int n = 0; n < times; ++n) {
        for (Int i = begin; i < end; ++i) dx.tensor.data()[i] += dy.data()[n * count + i];
      }
    });
  });
}

}  // namespace

Var repeat_batch(const Var& x, Int batch) {
  return repeat(x, x.size(), batch, {batch, x.dim(0), x.dim(1)});
}

Var repeat_rows(const Var& w, Int rows, Int batch, Int heads) {
  return repeat(w, rows * w.dim(1), batch * heads, {batch, heads, rows, w.dim(1)});
}

Var add_outer(const Var& k, const Var& c, const Var& w) {
  const Tensor in = k.value().contiguous();
  const Tensor cover = c.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const Int h = w.size();
  const Tensor y = Tensor::empty(k.shape());
  for (Int r = 0; r < cover.size(); ++r) {
    for (Int x = 0; x < h; ++x) y.data()[r * h + x] = in.data()[r * h + x] + cover.data()[r] * weight.data()[x];
  }
  return record(y, {k, c, w}, [k, c, w, cover, weight, h](const Tensor& dy) {
    k.accumulate(dy);
    if (c.requires_grad()) {
      const Tensor dc = Tensor::empty(c.shape());
      for (Int r = 0; r < dc.size(); ++r) {
        float sum = 0;
        for (Int x = 0; x < h; ++x) sum += dy.data()[r * h + x] * weight.data()[x];
        dc.data()[r] = sum;
      }
      c.accumulate(dc);
    }
    if (w.requires_grad()) {
      const Tensor dw = Tensor::zeros(w.shape());
      for (Int r = 0; r < cover.size(); ++r) {
        for (Int x = 0; x < h; ++x) dw.data()[x] += dy.data()[r * h + x] * cover.data()[r];
      }
      w.accumulate(dw);
    }
  });
}

}  // namespace fovea::attention
