// coverage_loss  forward  y = mean over rows of sum_j min(w_j, c_j)   backward  to the smaller of each pair
#include "fovea/attention/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

using Int = std::int64_t;

CoverageAttention CoverageAttention::make(Int query_dim, Int key_dim, Int hidden, std::uint64_t seed) {
  Rng rng(seed);
  const double deviation = 1 / std::sqrt(static_cast<double>(hidden));
  return {attention::xavier(hidden, query_dim, rng), attention::xavier(hidden, key_dim, rng),
          attention::normal({hidden}, deviation, rng), attention::zero_parameter({hidden}),
          attention::normal({hidden}, deviation, rng)};
}

CoverageAttention::Read CoverageAttention::operator()(const Var& query, const Var& key, const Var& value,
                                                      std::span<const Int> lengths, const Var& coverage) const {
  if (query.rank() != 3 || key.rank() != 3 || query.dim(1) < 1) {
    throw ShapeError(
        fmt::format("coverage: query {} and key {}: expected [batch,queries,width] with at least one query "
                    "and [batch,keys,width]",
                    query.shape().text(), key.shape().text()));
  }
  const Int batch = key.dim(0), keys = key.dim(1), queries = query.dim(1);
  const Var projected = attention::project(key, u, {});  // the same at every step
  Read read{.coverage = coverage ? coverage : Var(Tensor::zeros({batch, keys}))};
  std::vector<Var> contexts, weights, before;
  for (Int t = 0; t < queries; ++t) {
    const Attended now = attend(
        slice(query, 1, t, t + 1), projected, value,
        {.score =
             score::Additive{.w = w, .v = v, .b = b, .coverage = read.coverage, .coverage_weight = coverage_weight},
         .lengths = lengths,
         .want = {.weights = true}});
    contexts.push_back(now.context);
    weights.push_back(now.weights);
    before.push_back(reshape(read.coverage, {batch, 1, keys}));
    read.coverage = add(read.coverage, reshape(now.weights, {batch, keys}));
  }
  read.context = attention::join_steps(contexts);
  read.weights = attention::join_steps(weights);
  read.loss = coverage_loss(read.weights, attention::join_steps(before));
  return read;
}

Var coverage_loss(const Var& weights, const Var& coverage) {
  if (!(weights.shape() == coverage.shape()) || weights.rank() < 1) {
    throw ShapeError(fmt::format("coverage_loss: {} and {} differ", weights.shape().text(), coverage.shape().text()));
  }
  const Tensor w = weights.value().contiguous(), c = coverage.value().contiguous();
  const Int rows = w.dim(-1) == 0 ? 1 : std::max<Int>(1, w.size() / w.dim(-1));
  double total = 0;
  for (Int i = 0; i < w.size(); ++i) total += static_cast<double>(std::min(w.data()[i], c.data()[i]));
  return record(Tensor::full({}, static_cast<float>(total / static_cast<double>(rows))), {weights, coverage},
                [weights, coverage, w, c, rows](const Tensor& dy) {
                  const float d = dy.item() / static_cast<float>(rows);
                  const Tensor dw = Tensor::zeros(w.shape()), dc = Tensor::zeros(c.shape());
                  for (Int i = 0; i < w.size(); ++i) (w.data()[i] <= c.data()[i] ? dw : dc).data()[i] = d;
                  weights.accumulate(dw);
                  coverage.accumulate(dc);
                });
}

}  // namespace fovea
