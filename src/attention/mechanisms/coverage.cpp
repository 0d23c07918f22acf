// coverage_loss  forward   y = sum_tj min(w_tj, c_tj),  c_tj = before_j + sum_{u < t} w_uj
//                backward  dw_tj = dy ([w_tj <= c_tj] + number of u > t with c_uj < w_uj)
//                          dbefore_j = dy (number of u with c_uj < w_uj)
#include "fovea/attention/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "attention/mechanisms/weights.hpp"
#include "attention/project.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

using Int = std::int64_t;

namespace {

using KeptLengths = std::vector<Int, ArenaAllocator<Int>>;
using KeptSums = std::vector<float, ArenaAllocator<float>>;

struct CountedWeights {
  Int rows, columns;
};

// Of one sequence: w and dw [T, S], before and dbefore [S].
void coverage_gradient(float dy, const Tensor& w, const float* before, CountedWeights counted, const Tensor& dw,
                       float* dbefore) {
  const Int keys = w.dim(1);
  KeptSums sum(before, before + keys);
  // Forwards which of the two is smaller at each step, as in the forward; backwards how often a later step has the sum
  // as the smaller one.
  for (Int t = 0; t < counted.rows; ++t) {
    const float* row = w.data() + t * keys;
    float* to = dw.data() + t * keys;
    for (Int j = 0; j < counted.columns; ++j) {
      float& c = sum[static_cast<std::size_t>(j)];
      to[j] = row[j] <= c ? 1.0F : 0.0F;
      c += row[j];
    }
  }
  KeptSums later(static_cast<std::size_t>(keys), 0.0F);
  for (Int t = counted.rows - 1; t >= 0; --t) {
    float* to = dw.data() + t * keys;
    for (Int j = 0; j < counted.columns; ++j) {
      float& count = later[static_cast<std::size_t>(j)];
      const bool own = to[j] != 0.0F;
      to[j] = dy * (to[j] + count);
      if (!own) count += 1;
    }
  }
  for (Int j = 0; j < counted.columns; ++j) dbefore[j] = dy * later[static_cast<std::size_t>(j)];
}

}  // namespace

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
  std::vector<Var> contexts, weights;
  for (Int t = 0; t < queries; ++t) {
    const Attended now = attend(
        slice(query, 1, t, t + 1), projected, value,
        {.score =
             score::Additive{.w = w, .v = v, .b = b, .coverage = result.coverage, .coverage_weight = coverage_weight},
         .lengths = lengths,
         .want = {.weights = true}});
    contexts.push_back(now.context);
    weights.push_back(now.weights);
    result.coverage = add(result.coverage, reshape(now.weights, {batch, keys}));
  }
  result.context = concat(contexts, 1);
  result.weights = concat(weights, 1);
  result.loss = scale(coverage_loss(result.weights, {.before = coverage}), 1.0F / static_cast<float>(batch * queries));
  return result;
}

Var coverage_loss(const Var& weights, const CoverageLossOptions& how) {
  const auto per_sequence = [&](std::span<const Int> lengths) {
    return lengths.empty() || static_cast<Int>(lengths.size()) == weights.dim(0);
  };
  if (weights.rank() != 3 || !per_sequence(how.queries) || !per_sequence(how.keys) ||
      (how.before && !(how.before.shape() == Shape{weights.dim(0), weights.dim(2)}))) {
    throw ShapeError(fmt::format(
        "coverage_loss: weights {}, {} and {} lengths, before {}: expected [B,T,S], [B], [B] and [B,S]",
        weights.shape().text(), how.queries.size(), how.keys.size(), how.before ? how.before.shape().text() : "[]"));
  }
  const Int batch = weights.dim(0), steps = weights.dim(1), keys = weights.dim(2);
  const Tensor w = weights.value().contiguous();
  const Tensor start = how.before ? how.before.value().contiguous() : Tensor::zeros({batch, keys});
  KeptLengths rows(how.queries.begin(), how.queries.end()), columns(how.keys.begin(), how.keys.end());
  if (rows.empty()) rows.assign(static_cast<std::size_t>(batch), steps);
  if (columns.empty()) columns.assign(static_cast<std::size_t>(batch), keys);
  KeptSums covered(static_cast<std::size_t>(keys));
  double total = 0;
  for (Int b = 0; b < batch; ++b) {
    std::copy_n(start.data() + b * keys, keys, covered.begin());
    for (Int t = 0; t < rows[static_cast<std::size_t>(b)]; ++t) {
      const float* row = w.data() + (b * steps + t) * keys;
      for (Int j = 0; j < columns[static_cast<std::size_t>(b)]; ++j) {
        float& c = covered[static_cast<std::size_t>(j)];
        total += std::min(row[j], c);
        c += row[j];
      }
    }
  }
  return record(Tensor::full({}, static_cast<float>(total)), {weights, how.before},
                [weights, before = how.before, w, start, rows, columns](const Tensor& dy) {
                  const Tensor dw = Tensor::zeros(w.shape()), dbefore = Tensor::zeros(start.shape());
                  for (Int b = 0; b < w.dim(0); ++b) {
                    const auto at = static_cast<std::size_t>(b);
                    coverage_gradient(dy.item(), w.select(0, b), start.data() + b * w.dim(2), {rows[at], columns[at]},
                                      dw.select(0, b), dbefore.data() + b * w.dim(2));
                  }
                  weights.accumulate(dw);
                  if (before) before.accumulate(dbefore);
                });
}

}  // namespace fovea
