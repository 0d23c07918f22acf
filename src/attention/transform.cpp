// A score's form applied to the queries and keys of a call of attend().
#include <fmt/format.h>

#include "attention/prepare.hpp"
#include "attention/project.hpp"
#include "attention/repeat.hpp"
#include "attention/score_form.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea::attention {
namespace {

// What of the general score is the same for all keys of a query. It cancels in normalizers that make a row sum to 1.
void set_row_term(Plan& plan, const Sizes& s, const Var& q, const score::General& how) {
  const bool matters = std::holds_alternative<normalizer::Sigmoid>(plan.normalizer) ||
                       std::holds_alternative<normalizer::Tanh>(plan.normalizer);
  if ((!how.a && !how.c) || !matters) return;
  const Var a = how.a ? reshape(how.a, {1, s.query_dim}) : Var(Tensor::zeros({1, s.query_dim}));
  plan.inputs[Input::row_term] = project(q, a, how.c, s.packed_heads);
}

Var add_coverage(const Sizes& s, const Var& keys, const ScoreForm& form) {
  if (!form.coverage) return keys;
  if (!(form.coverage.shape() == Shape{s.batch, s.keys})) {
    throw ShapeError(fmt::format("attend: score coverage {}: expected {}", form.coverage.shape().text(),
                                 Shape{s.batch, s.keys}.text()));
  }
  if (s.kv_heads > 1) throw UsageError("attend: coverage is for keys of one head");
  return add_outer(keys, form.coverage, form.coverage_weight);
}

// The rows of the location score's table as keys.
Var table_keys(Plan& plan, const Sizes& s, const ScoreForm& form) {
  const Var& w = form.query.w;
  if (form.dim < s.keys) {
    throw ShapeError(fmt::format("attend: score W {}: expected [L,{}] with L at least {}, the number of keys",
                                 w.shape().text(), s.query_dim, s.keys));
  }
  if (w.requires_grad()) return repeat_rows(w, s.keys, s.batch, s.kv_heads);
  plan.location = true;
  return w;
}

void set_pairwise(Plan& plan, const Var& q, const Var& k, const score::Pairwise& how) {
  if (!how.score) throw UsageError("attend: the pairwise score is empty");
  if (!how.gradient && recording({q, k})) {
    throw UsageError("attend: the pairwise score has no gradient function, but query or key wants a gradient");
  }
  plan.kind = Kind::pairwise;
  plan.pairwise = how;
}

void set_block(Plan& plan, const score::Block& how) {
  if (!how.score) throw UsageError("attend: the block score is empty");
  plan.kind = Kind::block;
  plan.block = how;
  plan.inputs.insert(plan.inputs.end(), how.parameters.begin(), how.parameters.end());
}

}  // namespace

void transform(Plan& plan, const Sizes& s, const Var& query, const Var& key, const AttendOptions& how) {
  Var q = how.rotary ? rotary(query, *how.rotary, s.keys - s.queries, s.packed_heads) : query;
  Var k = how.rotary ? rotary(key, *how.rotary, 0, s.packed_kv_heads) : key;
  const ScoreForm form = score_form({"attend", "query", "key"}, how.score, s.query_dim, s.key_dim);
  plan.scale = form.scale;
  switch (form.kind) {
    case ScoreForm::Kind::dot:
      break;
    case ScoreForm::Kind::general:
      set_row_term(plan, s, q, form.general);
      q = project_plain(q, form.general.w, form.general.b, s.packed_heads);
      break;
    case ScoreForm::Kind::cosine:
      q = unit_rows(q, form.epsilon, s.packed_heads);
      k = unit_rows(k, form.epsilon, s.packed_kv_heads);
      break;
    case ScoreForm::Kind::additive:
      plan.kind = Kind::additive;
      plan.activation = form.activation;
      plan.inputs[Input::vector] = form.vector;
      q = form.query(q, s.packed_heads);
      k = add_coverage(s, form.key(k, s.packed_kv_heads), form);
      break;
    case ScoreForm::Kind::location:
      k = table_keys(plan, s, form);
      break;
    case ScoreForm::Kind::pairwise:
      set_pairwise(plan, q, k, *form.pairwise);
      break;
    case ScoreForm::Kind::block:
      set_block(plan, *form.block);
      break;
  }
  if (q.rank() == 2 && s.batch != 1 && q.requires_grad()) q = repeat_batch(q, s.batch);
  Var& row_term = plan.inputs[Input::row_term];  // sequences add to its gradient from several threads
  if (row_term && row_term.rank() == 2 && s.batch != 1 && row_term.requires_grad()) {
    row_term = repeat_batch(row_term, s.batch);
  }
  plan.inputs[Input::query] = q;
  plan.inputs[Input::key] = k;
  plan.dim = q.dim(-1) / s.packed_heads;
  plan.key_dim = plan.location || k.rank() == 4 ? k.dim(-1) : k.dim(-1) / s.packed_kv_heads;
}

}  // namespace fovea::attention
