// attention with a weight per feature
//   forward   s_ij = f(a_i + b_j),  w_ij = softmax_j(s_ij),  y_i = sum_j w_ij v_j       all feature by feature
//   backward  dv_j = sum_i w_ij dy_i,  ds_ij = w_ij dy_i (v_j - y_i),  da_i = sum_j ds_ij f',  db_j = sum_i ds_ij f'
// Scores are computed again in the backward from the saved largest score and sum: memory is linear in the sequence.
#include "fovea/attention/multi_dimensional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/mechanisms/weights.hpp"
#include "attention/plan.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using attention::Int;
using attention::Ints;

struct FeatureProblem {
  Int batch, queries, keys, width;
  float c;
  Direction direction;
  Ints lengths;

  // The keys that query i attends to.
  void range(Int b, Int i, Int* low, Int* high) const {
    *low = direction == Direction::backward ? i + 1 : 0;
    *high = lengths.empty() ? keys : lengths[static_cast<std::size_t>(b)];
    if (direction == Direction::forward) *high = std::min(*high, i);
  }
  [[nodiscard]] float score(float x) const { return c > 0 ? c * std::tanh(x / c) : x; }
  [[nodiscard]] float slope(float s) const { return c > 0 ? 1 - (s / c) * (s / c) : 1.0F; }
};

// forward  y = x, or exp(x) - 1 below 0      backward  dx = dy, or (y + 1) dy
Var elu(const Var& x) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  for (Int i = 0; i < y.size(); ++i) y.data()[i] = in.data()[i] > 0 ? in.data()[i] : std::expm1(in.data()[i]);
  return record(y, {x}, [x, y](const Tensor& dy) {
    const Tensor dx = Tensor::empty(x.shape());
    for (Int i = 0; i < dx.size(); ++i) dx.data()[i] = dy.data()[i] * std::min(y.data()[i] + 1, 1.0F);
    x.accumulate(dx);
  });
}

}  // namespace

Var feature_attend(const Var& a, const Var& b, const Var& v, float c, std::span<const Int> lengths,
                   Direction direction) {
  if (a.rank() != 3 || b.rank() != 3 || !(b.shape() == v.shape()) || a.dim(0) != b.dim(0) || a.dim(2) != b.dim(2)) {
    throw ShapeError(fmt::format("feature_attend: {}, {} and {}: expected [B,Tq,d], [B,Tk,d] and [B,Tk,d]",
                                 a.shape().text(), b.shape().text(), v.shape().text()));
  }
  FeatureProblem p{a.dim(0), a.dim(1), b.dim(1), a.dim(2), c, direction, Ints(lengths.begin(), lengths.end())};
  if (!p.lengths.empty() && static_cast<Int>(p.lengths.size()) != p.batch) {
    throw ShapeError(fmt::format("feature_attend: lengths [{}]: expected [{}]", p.lengths.size(), p.batch));
  }
  for (const Int length : p.lengths) {
    if (length < 0 || length > p.keys) {
      throw UsageError(fmt::format("feature_attend: length {}: expected 0 to {}", length, p.keys));
    }
  }
  const Tensor qa = a.value().contiguous(), kb = b.value().contiguous(), values = v.value().contiguous();
  const Tensor y = Tensor::zeros(a.shape());
  const Tensor peak = Tensor::full(a.shape(), -std::numeric_limits<float>::infinity());
  const Tensor mass = Tensor::zeros(a.shape());
  const Int d = p.width;
  parallel_for(p.batch * p.queries, 8, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      const Int sequence = r / p.queries;
      Int low = 0, high = 0;
      p.range(sequence, r % p.queries, &low, &high);
      float* top = peak.data() + r * d;
      float* sum = mass.data() + r * d;
      float* out = y.data() + r * d;
      for (Int j = low; j < high; ++j) {
        const float* k = kb.data() + (sequence * p.keys + j) * d;
        for (Int f = 0; f < d; ++f) top[f] = std::max(top[f], p.score(qa.data()[r * d + f] + k[f]));
      }
      for (Int j = low; j < high; ++j) {
        const Int at = (sequence * p.keys + j) * d;
        for (Int f = 0; f < d; ++f) {
          const float w = std::exp(p.score(qa.data()[r * d + f] + kb.data()[at + f]) - top[f]);
          sum[f] += w;
          out[f] += w * values.data()[at + f];
        }
      }
      for (Int f = 0; f < d && high > low; ++f) out[f] /= sum[f];
    }
  });
  return record(y, {a, b, v}, [a, b, v, qa, kb, values, y, peak, mass, p, d](const Tensor& dy) {
    const Tensor da = Tensor::zeros(a.shape()), db = Tensor::zeros(b.shape()), dv = Tensor::zeros(v.shape());
    parallel_for(p.batch, 1, [&](Int begin, Int end) {  // a sequence's keys gather from all its queries
      for (Int r = begin * p.queries; r < end * p.queries; ++r) {
        const Int sequence = r / p.queries;
        Int low = 0, high = 0;
        p.range(sequence, r % p.queries, &low, &high);
        for (Int j = low; j < high; ++j) {
          const Int at = (sequence * p.keys + j) * d;
          for (Int f = 0; f < d; ++f) {
            const Int i = r * d + f;
            const float s = p.score(qa.data()[i] + kb.data()[at + f]);
            const float w = std::exp(s - peak.data()[i]) / mass.data()[i];
            const float ds = w * dy.data()[i] * (values.data()[at + f] - y.data()[i]) * p.slope(s);
            dv.data()[at + f] += w * dy.data()[i];
            da.data()[i] += ds;
            db.data()[at + f] += ds;
          }
        }
      }
    });
    a.accumulate(da);
    b.accumulate(db);
    v.accumulate(dv);
  });
}

MultiDimensional::MultiDimensional(Parameters& p, const std::string& name, Int dim) {
  attention::require_sizes(name, {{"dim", dim}});
  w_1 = p.get(name + ".w_1", {dim, dim}, Init::xavier);
  w_2 = p.get(name + ".w_2", {dim, dim}, Init::xavier);
  b = p.get(name + ".b", {dim}, Init::zeros);
}

Var MultiDimensional::operator()(const Var& x, std::span<const Int> lengths, Direction direction) const {
  return feature_attend(attention::project_plain(x, w_1, b), attention::project_plain(x, w_2, {}), x, c, lengths,
                        direction);
}

MultiDimensionalPooling::MultiDimensionalPooling(Parameters& p, const std::string& name, Int dim) {
  attention::require_sizes(name, {{"dim", dim}});
  w_1 = p.get(name + ".w_1", {dim, dim}, Init::xavier);
  b_1 = p.get(name + ".b_1", {dim}, Init::zeros);
  w = p.get(name + ".w", {dim, dim}, Init::xavier);
  b = p.get(name + ".b", {dim}, Init::zeros);
}

Var MultiDimensionalPooling::operator()(const Var& x, std::span<const Int> lengths) const {
  const Var scores = attention::project_plain(elu(attention::project_plain(x, w_1, b_1)), w, b);
  const Var none = Tensor::zeros({x.dim(0), 1, x.dim(2)});
  return reshape(feature_attend(none, scores, x, 0, lengths), {x.dim(0), x.dim(2)});
}

}  // namespace fovea
