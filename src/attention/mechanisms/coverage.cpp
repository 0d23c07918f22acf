// coverage_loss  forward  y = mean over rows of sum_j min(w_j, c_j)   backward  to the smaller of each pair
#include "fovea/attention/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "attention/mechanisms/weights.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

using Int = std::int64_t;

CoverageAttention::CoverageAttention(Parameters& p, const std::string& name, const CoverageOptions& options) {
  const Int query_dim = options.query_dim, key_dim = options.key_dim, hidden = options.hidden;
  attention::require_sizes(name, {{"query_dim", query_dim}, {"key_dim", key_dim}, {"hidden", hidden}});
  w = p.get(name + ".w", {hidden, query_dim}, Init::xavier);
  u = p.get(name + ".u", {hidden, key_dim}, Init::xavier);
  v = attention::dot_vectors(p, name + ".v", {hidden});
  b = p.get(name + ".b", {hidden}, Init::zeros);
  coverage_weight = attention::dot_vectors(p, name + ".coverage_weight", {hidden});
}

CoverageAttention::Result CoverageAttention::operator()(const Var& query, const Var& key, const Var& value,
                                                        std::span<const Int> lengths, const Var& coverage) const {
  if (query.rank() != 3 || key.rank() != 3 || query.dim(1) < 1) {
    throw ShapeError(
        fmt::format("coverage: query {} and key {}: expected [batch,queries,width] with at least one query "
                    "and [batch,keys,width]",
                    query.shape().text(), key.shape().text()));
  }
  const Int batch = key.dim(0), keys = key.dim(1), queries = query.dim(1);
  const Var projected = attention::project(key, u, {});  // the same at every step
  Result result{.coverage = coverage ? coverage : Var(Tensor::zeros({batch, keys}))};
  std::vector<Var> contexts, weights, before;
  for (Int t = 0; t < queries; ++t) {
    const Attended now = attend(
        slice(query, 1, t, t + 1), projected, value,
        {.score =
             score::Additive{.w = w, .v = v, .b = b, .coverage = result.coverage, .coverage_weight = coverage_weight},
         .lengths = lengths,
         .want = {.weights = true}});
    contexts.push_back(now.context);
    weights.push_back(now.weights);
    before.push_back(reshape(result.coverage, {batch, 1, keys}));
    result.coverage = add(result.coverage, reshape(now.weights, {batch, keys}));
  }
  result.context = concat(contexts, 1);
  result.weights = concat(weights, 1);
  result.loss = coverage_loss(result.weights, concat(before, 1));
  return result;
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
