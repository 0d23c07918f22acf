#include "attention/score_form.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attention/project.hpp"
#include "fovea/error.hpp"

namespace fovea::attention {
namespace {

struct MakeForm {
  const ScoreNames& names;
  std::int64_t query_dim, key_dim;
  ScoreForm& form;

  // A parameter must have exactly this shape; an optional one may be missing.
  void expect(const char* name, const Var& parameter, const Shape& shape, bool optional = false) const {
    if ((!parameter && optional) || (parameter && parameter.shape() == shape)) return;
    throw ShapeError(fmt::format("{}: score {} {}: expected {}", names.op, name,
                                 parameter ? parameter.shape().text() : "is missing", shape.text()));
  }
  // The first axis of a parameter of this rank.
  [[nodiscard]] std::int64_t rows_of(const char* name, const Var& parameter, int rank, const char* expected) const {
    if (parameter && parameter.rank() == rank && parameter.dim(0) >= 1) return parameter.dim(0);
    throw ShapeError(fmt::format("{}: score {} {}: expected {}", names.op, name,
                                 parameter ? parameter.shape().text() : "is missing", expected));
  }
  void expect_same_width(const char* score) const {
    if (query_dim == key_dim) return;
    throw ShapeError(fmt::format("{}: {} of width {}: the {} score expects {}, the {}'s", names.op, names.key, key_dim,
                                 score, query_dim, names.query));
  }
  // Without its map, what the additive score compares must have the width of v already.
  void expect_projected(const char* what, std::int64_t width, const char* map) const {
    if (width == form.dim) return;
    throw ShapeError(fmt::format("{}: {} of width {}: without {} the additive score expects {}", names.op, what, width,
                                 map, form.dim));
  }

  void operator()(const score::Dot& how) const {
    expect_same_width("dot");
    form.scale = how.scale.value_or(1.0F);
  }
  void operator()(const score::ScaledDot& how) const {
    expect_same_width("scaled dot");
    form.scale = how.scale.value_or(query_dim > 0 ? 1.0F / std::sqrt(static_cast<float>(query_dim)) : 1.0F);
  }
  void operator()(const score::General& how) const {
    expect("W", how.w, {query_dim, key_dim});
    expect("a", how.a, {query_dim}, true);
    expect("b", how.b, {key_dim}, true);
    expect("c", how.c, {1}, true);
    form.kind = ScoreForm::Kind::general;
    form.general = how;
  }
  void operator()(const score::Cosine& how) const {
    expect_same_width("cosine");
    if (!(how.epsilon > 0)) throw UsageError(fmt::format("{}: cosine epsilon must be above 0", names.op));
    form.kind = ScoreForm::Kind::cosine;
    form.scale = how.scale;
    form.epsilon = how.epsilon;
  }
  void operator()(const score::Additive& how) const {
    if (how.activation != Activation::tanh && how.activation != Activation::leaky_relu) {
      throw UsageError(fmt::format("{}: the additive score's activation must be tanh or leaky_relu", names.op));
    }
    form.kind = ScoreForm::Kind::additive;
    form.activation = how.activation;
    form.dim = rows_of("v", how.v, 1, "[h]");
    expect("W", how.w, {form.dim, query_dim}, true);
    expect("U", how.u, {form.dim, key_dim}, true);
    expect("b", how.b, {form.dim}, true);
    expect("coverage_weight", how.coverage_weight, {form.dim}, !how.coverage);
    if (!how.w) expect_projected(names.query, query_dim, "W");
    if (!how.u) expect_projected(names.key, key_dim, "U");
    if (!how.w && !how.u && how.b) throw UsageError(fmt::format("{}: score b needs W or U to be added to", names.op));
    form.query = {how.w, how.w ? how.b : Var()};
    form.key = {how.u, how.w ? Var() : how.b};
    form.vector = how.v;
    form.coverage = how.coverage;
    form.coverage_weight = how.coverage_weight;
  }
  void operator()(const score::Concat& how) const {
    form.kind = ScoreForm::Kind::additive;
    form.dim = rows_of("v", how.v, 1, "[h]");
    expect("W", how.w, {form.dim, query_dim + key_dim});
    form.query = {how.w};
    form.key = {.w = how.w, .first = query_dim};
    form.vector = how.v;
  }
  void operator()(const score::Location& how) const {
    form.kind = ScoreForm::Kind::location;
    form.dim = rows_of("W", how.w, 2, "[L,width of the queries]");
    expect("W", how.w, {form.dim, query_dim});
    form.query = {how.w};
  }
  void operator()(const score::Pairwise& how) const {
    form.kind = ScoreForm::Kind::pairwise;
    form.pairwise = &how;
  }
  void operator()(const score::Block& how) const {
    form.kind = ScoreForm::Kind::block;
    form.block = &how;
  }
};

}  // namespace

Var ScoreMap::operator()(const Var& x, std::int64_t heads) const {
  return w ? project(x, w, b, heads, first) : x;
}

ScoreForm score_form(const ScoreNames& names, const Score& score, std::int64_t query_dim, std::int64_t key_dim) {
  ScoreForm form;
  std::visit(MakeForm{names, query_dim, key_dim, form}, score);
  return form;
}

}  // namespace fovea::attention
