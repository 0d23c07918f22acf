// The user's own scores of a block of queries: by pair, or written with ops on a small tape of the block's own.
#include <fmt/format.h>

#include <algorithm>

#include "attention/rows/rows.hpp"
#include "fovea/error.hpp"

namespace fovea::attention {
namespace {

using Floats = std::span<const float>;

Floats floats(const float* data, Int n) {
  return {data, static_cast<std::size_t>(n)};
}

// Copies of queries first to first + rows and of the block's keys. Keys hidden from all of them become 0: their values
// must not reach the user's function.
Tensor copy_queries(const Plan& plan, const Block& block, Int first, Int rows) {
  Tensor t = Tensor::empty({rows, plan.dim});
  for (Int r = 0; r < rows; ++r) {
    std::copy_n(plan.q.at(block.b, block.h, block.first + first + r), plan.dim, t.data() + r * plan.dim);
  }
  return t;
}

Tensor copy_keys(const Plan& plan, const Block& block, Int first, Int rows, Int key_dim) {
  (void)plan;
  Tensor t = Tensor::zeros({block.columns, key_dim});
  for (Int c = 0; c < block.columns; ++c) {
    bool visible = false;
    for (Int r = first; r < first + rows && !visible; ++r) visible = block.visible[r * block.pitch + c] != 0;
    if (visible) std::copy_n(block.k + c * block.k_row, key_dim, t.data() + c * key_dim);
  }
  return t;
}

Tensor call(const Plan& plan, Int rows, Int columns, const Var& q, const Var& k, std::span<const Var> with,
            Var* result) {
  Var s = plan.block.score(q, k, with);
  if (!s || !(s.shape() == Shape{rows, columns})) {
    throw ShapeError(fmt::format("attend: the block score gave {} for {} queries and {} keys, expected {}",
                                 s ? s.shape().text() : "nothing", rows, columns, Shape{rows, columns}.text()));
  }
  Tensor values = s.value().contiguous();
  if (result != nullptr) *result = std::move(s);
  return values;
}

// With NaN or infinity about, each query is scored alone with the keys visible to it.
Int step(const Block& block) {
  return block.finite ? block.rows : 1;
}

}  // namespace

void score_pairwise(const Plan& plan, const Block& block) {
  for (Int r = 0; r < block.rows; ++r) {
    const Floats q = floats(plan.q.at(block.b, block.h, block.first + r), plan.dim);
    for (Int c = 0; c < block.columns; ++c) {
      const bool visible = block.visible[r * block.pitch + c] != 0;
      block.scores[r * block.pitch + c] =
          visible ? plan.pairwise.score(q, floats(block.k + c * block.k_row, plan.key_dim)) : 0.0F;
    }
  }
}

void score_pairwise_backward(const Plan& plan, const Block& block, const ScoreGrads& to) {
  if (!to.dq && to.dk == nullptr) return;                          // then there may be no function for it
  const Tensor unused = Tensor::zeros({plan.dim + plan.key_dim});  // takes gradients that are not wanted
  for (Int r = 0; r < block.rows; ++r) {
    const Int i = block.first + r;
    const Floats q = floats(plan.q.at(block.b, block.h, i), plan.dim);
    for (Int c = 0; c < block.columns; ++c) {
      const float ds = block.gradient[r * block.pitch + c];
      if (block.visible[r * block.pitch + c] == 0 || ds == 0.0F) continue;
      float* dq = to.dq ? to.dq.at(block.b, block.h, i) : unused.data();
      float* dk = to.dk != nullptr ? to.dk + c * to.dk_row : unused.data() + plan.dim;
      plan.pairwise.gradient(q, floats(block.k + c * block.k_row, plan.key_dim), ds,
                             {dq, static_cast<std::size_t>(plan.dim)}, {dk, static_cast<std::size_t>(plan.key_dim)});
    }
  }
}

void score_taped(const Plan& plan, const Block& block) {
  const NoGrad quiet;
  for (Int first = 0; first < block.rows; first += step(block)) {
    const Int rows = step(block);
    const Tensor s = call(plan, rows, block.columns, copy_queries(plan, block, first, rows),
                          copy_keys(plan, block, first, rows, plan.key_dim), plan.block.parameters, nullptr);
    for (Int r = 0; r < rows; ++r) {
      std::copy_n(s.data() + r * block.columns, block.columns, block.scores + (first + r) * block.pitch);
    }
  }
}

void score_taped_backward(const Plan& plan, const Block& block, const ScoreGrads& to) {
  for (Int first = 0; first < block.rows; first += step(block)) {
    const Int rows = step(block);
    const Var q = Var::parameter(copy_queries(plan, block, first, rows));
    const Var k = Var::parameter(copy_keys(plan, block, first, rows, plan.key_dim));
    std::vector<Var, ArenaAllocator<Var>> leaves;
    for (const Var& p : plan.block.parameters) leaves.push_back(Var::parameter(p.value()));
    Var s;
    (void)call(plan, rows, block.columns, q, k, leaves, &s);
    const Tensor ds = Tensor::empty({rows, block.columns});
    for (Int r = 0; r < rows; ++r) {
      std::copy_n(block.gradient + (first + r) * block.pitch, block.columns, ds.data() + r * block.columns);
    }
    if (!s.requires_grad()) continue;  // a score that depends on nothing
    fovea::backward(s, ds);
    const Tensor dq = q.grad();
    const Tensor dk = k.grad();
    for (Int r = 0; to.dq && r < rows; ++r) {
      float* row = to.dq.at(block.b, block.h, block.first + first + r);
      for (Int x = 0; x < plan.dim; ++x) row[x] += dq.data()[r * plan.dim + x];
    }
    for (Int c = 0; to.dk != nullptr && c < block.columns; ++c) {
      for (Int x = 0; x < plan.key_dim; ++x) to.dk[c * to.dk_row + x] += dk.data()[c * plan.key_dim + x];
    }
    for (std::size_t p = 0; p < leaves.size(); ++p) {
      if (to.dparameters[p] == nullptr) continue;
      const Tensor dp = leaves[p].grad();
      for (Int x = 0; x < dp.size(); ++x) to.dparameters[p][x] += dp.data()[x];
    }
  }
}

}  // namespace fovea::attention
