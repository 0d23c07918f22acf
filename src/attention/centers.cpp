// Luong's predicted centre of local attention
//   forward   t = tanh(W q),  p = S sigmoid(v . t)
//   backward  dz = dp p (1 - p / S),  dv = sum dz t,  d(W q) = dz v (1 - t^2)
#include <fmt/format.h>

#include <cmath>

#include "attention/project.hpp"
#include "fovea/attention/mask.hpp"
#include "fovea/error.hpp"

namespace fovea {

using Int = std::int64_t;

Var predict_centers(const Var& query, const Var& w, const Var& v, Int keys, std::span<const Int> lengths) {
  if (query.rank() != 3) {
    throw ShapeError(fmt::format("predict_centers: query {}: expected [batch,queries,width]", query.shape().text()));
  }
  const Int h = v.rank() == 1 ? v.dim(0) : -1;
  if (!(w.shape() == Shape{h, query.dim(2)})) {
    throw ShapeError(fmt::format("predict_centers: W {} and v {}: expected [h,{}] and [h]", w.shape().text(),
                                 v.shape().text(), query.dim(2)));
  }
  const Int batch = query.dim(0), queries = query.dim(1);
  if (!lengths.empty() && static_cast<Int>(lengths.size()) != batch) {
    throw ShapeError(fmt::format("predict_centers: lengths [{}]: expected [{}]", lengths.size(), batch));
  }
  const Tensor spans = Tensor::full({batch}, static_cast<float>(keys));
  for (std::size_t b = 0; b < lengths.size(); ++b) spans.data()[b] = static_cast<float>(lengths[b]);

  const Var a = attention::project(query, w, {});
  const Tensor& in = a.value();
  const Tensor vector = v.value().contiguous();
  const Tensor t = Tensor::empty(in.shape());
  const Tensor p = Tensor::empty({batch, queries});
  for (Int r = 0; r < p.size(); ++r) {
    float z = 0;
    for (Int x = 0; x < h; ++x) {
      t.data()[r * h + x] = std::tanh(in.data()[r * h + x]);
      z += vector.data()[x] * t.data()[r * h + x];
    }
    p.data()[r] = spans.data()[r / queries] / (1.0F + std::exp(-z));
  }
  return record(p, {a, v}, [a, v, t, p, vector, spans, h, queries](const Tensor& dp) {
    const Tensor da = Tensor::empty(a.shape());
    const Tensor dv = Tensor::zeros(v.shape());
    for (Int r = 0; r < p.size(); ++r) {
      const float span = spans.data()[r / queries];
      const float share = span > 0 ? p.data()[r] / span : 0.0F;
      const float dz = dp.data()[r] * p.data()[r] * (1 - share);
      for (Int x = 0; x < h; ++x) {
        const float y = t.data()[r * h + x];
        da.data()[r * h + x] = dz * vector.data()[x] * (1 - y * y);
        dv.data()[x] += dz * y;
      }
    }
    a.accumulate(da);
    v.accumulate(dv);
  });
}

}  // namespace fovea
