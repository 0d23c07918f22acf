// Every score as a dot product or an additive sum, by transforming queries or keys first:
//   general   q' W k + b . k   = (W' q + b) . k            a . q + c, the same for all keys, cancels in softmax
//   cosine    q . k / |q| |k|  = (q / |q|) . (k / |k|)
//   concat    v . tanh(W [q;k]) = v . tanh(W_q q + W_k k)
//   location  (W q)_j          = q . W_j: the rows of W are the keys of every sequence
#include <fmt/format.h>

#include <cmath>

#include "attention/prepare.hpp"
#include "attention/project.hpp"
#include "attention/repeat.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea::attention {
namespace {

// A parameter must be there, or may be missing, and has exactly this shape.
void expect(const char* name, const Var& parameter, const Shape& shape, bool optional = false) {
  if (!parameter) {
    if (optional) return;
    throw ShapeError(fmt::format("attend: {} is missing: expected {}", name, shape.text()));
  }
  if (!(parameter.shape() == shape)) {
    throw ShapeError(fmt::format("attend: {} {}: expected {}", name, parameter.shape().text(), shape.text()));
  }
}

// The first axis of a parameter of rank 2, or of rank 1.
Int rows_of(const char* name, const Var& parameter, int rank, const char* expected) {
  if (!parameter || parameter.rank() != rank || parameter.dim(0) < 1) {
    throw ShapeError(
        fmt::format("attend: {} {}: expected {}", name, parameter ? parameter.shape().text() : "is missing", expected));
  }
  return parameter.dim(0);
}

struct Transform {
  Plan& plan;
  const Sizes& s;
  Var q, k;  // transformed

  void same_width(const char* score) const {
    if (s.query_dim != s.key_dim) {
      throw ShapeError(
          fmt::format("attend: key of width {}: the {} score expects {}, the query's", s.key_dim, score, s.query_dim));
    }
  }

  void operator()(const score::Dot& how) {
    same_width("dot");
    plan.scale = how.scale.value_or(1.0F);
  }
  void operator()(const score::ScaledDot& how) {
    same_width("scaled dot");
    plan.scale = how.scale.value_or(s.query_dim > 0 ? 1.0F / std::sqrt(static_cast<float>(s.query_dim)) : 1.0F);
  }
  void operator()(const score::General& how) {
    expect("score W", how.w, {s.query_dim, s.key_dim});
    expect("score a", how.a, {s.query_dim}, true);
    expect("score b", how.b, {s.key_dim}, true);
    expect("score c", how.c, {1}, true);
    // The same for all keys of a query: it cancels in normalizers that make a row sum to 1.
    const bool matters = std::holds_alternative<normalizer::Sigmoid>(plan.normalizer) ||
                         std::holds_alternative<normalizer::Tanh>(plan.normalizer);
    if ((how.a || how.c) && matters) {
      const Var a = how.a ? reshape(how.a, {1, s.query_dim}) : Var(Tensor::zeros({1, s.query_dim}));
      plan.inputs[Input::row_term] = project(q, a, how.c, s.packed_heads);
    }
    q = project_plain(q, how.w, how.b, s.packed_heads);
  }
  void operator()(const score::Cosine& how) {
    same_width("cosine");
    if (!(how.epsilon > 0)) throw UsageError("attend: cosine epsilon must be above 0");
    plan.scale = how.scale;
    q = unit_rows(q, how.epsilon, s.packed_heads);
    k = unit_rows(k, how.epsilon, s.packed_kv_heads);
  }
  void operator()(const score::Additive& how) {
    plan.kind = Kind::additive;
    if (how.activation != Activation::tanh && how.activation != Activation::leaky_relu) {
      throw UsageError("attend: the additive score's activation must be tanh or leaky_relu");
    }
    plan.activation = how.activation;
    const Int h = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {h, s.query_dim}, true);
    expect("score U", how.u, {h, s.key_dim}, true);
    expect("score b", how.b, {h}, true);
    if (!how.w && s.query_dim != h) {
      throw ShapeError(
          fmt::format("attend: query of width {}: without W the additive score expects {}", s.query_dim, h));
    }
    if (!how.u && s.key_dim != h) {
      throw ShapeError(fmt::format("attend: key of width {}: without U the additive score expects {}", s.key_dim, h));
    }
    if (how.w) q = project(q, how.w, how.b, s.packed_heads);
    if (how.u) k = project(k, how.u, how.w ? Var() : how.b, s.packed_kv_heads);
    if (!how.w && !how.u && how.b) throw UsageError("attend: score b needs W or U to be added to");
    if (how.coverage) {
      expect("score coverage", how.coverage, {s.batch, s.keys});
      expect("score coverage_weight", how.coverage_weight, {h});
      if (s.kv_heads > 1) throw UsageError("attend: coverage is for keys of one head");
      k = add_outer(k, how.coverage, how.coverage_weight);
    }
    plan.inputs[Input::vector] = how.v;
  }
  void operator()(const score::Concat& how) {
    plan.kind = Kind::additive;
    const Int h = rows_of("score v", how.v, 1, "[h]");
    expect("score W", how.w, {h, s.query_dim + s.key_dim});
    q = project(q, how.w, {}, s.packed_heads, 0);
    k = project(k, how.w, {}, s.packed_kv_heads, s.query_dim);
    plan.inputs[Input::vector] = how.v;
  }
  void operator()(const score::Location& how) {
    const Int length = rows_of("score W", how.w, 2, "[L,width of the query]");
    if (length < s.keys || how.w.dim(1) != s.query_dim) {
      throw ShapeError(fmt::format("attend: score W {}: expected [L,{}] with L at least {}, the number of keys",
                                   how.w.shape().text(), s.query_dim, s.keys));
    }
    if (how.w.requires_grad()) {
      k = repeat_rows(how.w, s.keys, s.batch, s.kv_heads);
    } else {
      k = how.w;
      plan.location = true;
    }
  }
  void operator()(const score::Pairwise& how) {
    if (!how.score) throw UsageError("attend: the pairwise score is empty");
    if (!how.gradient && recording({q, k})) {
      throw UsageError("attend: the pairwise score has no gradient function, but query or key wants a gradient");
    }
    plan.kind = Kind::pairwise;
    plan.pairwise = how;
  }
  void operator()(const score::Block& how) {
    if (!how.score) throw UsageError("attend: the block score is empty");
    plan.kind = Kind::block;
    plan.block = how;
    plan.inputs.insert(plan.inputs.end(), how.parameters.begin(), how.parameters.end());
  }
};

}  // namespace

void transform(Plan& plan, const Sizes& sizes, const Var& query, const Var& key, const AttendOptions& how) {
  Transform t{plan, sizes, query, key};
  if (how.rotary) {
    t.q = rotary(query, *how.rotary, sizes.keys - sizes.queries, sizes.packed_heads);
    t.k = rotary(key, *how.rotary, 0, sizes.packed_kv_heads);
  }
  std::visit(t, how.score);
  if (t.q.rank() == 2 && sizes.batch != 1 && t.q.requires_grad()) t.q = repeat_batch(t.q, sizes.batch);
  Var& row_term = plan.inputs[Input::row_term];  // sequences add to its gradient from several threads
  if (row_term && row_term.rank() == 2 && sizes.batch != 1 && row_term.requires_grad()) {
    row_term = repeat_batch(row_term, sizes.batch);
  }
  plan.inputs[Input::query] = t.q;
  plan.inputs[Input::key] = t.k;
  plan.dim = t.q.dim(-1) / sizes.packed_heads;
  plan.key_dim = plan.location || t.k.rank() == 4 ? t.k.dim(-1) : t.k.dim(-1) / sizes.packed_kv_heads;
}

}  // namespace fovea::attention
