#include "fovea/attention/co_attention.hpp"

#include <cmath>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using attention::project;
using attention::xavier;
using Lengths = std::span<const std::int64_t>;

Var vector(std::int64_t hidden, Rng& rng) {
  return attention::normal({hidden}, 1 / std::sqrt(static_cast<double>(hidden)), rng);
}

struct Summary {
  Var vector, weights;  // [B, d], [B, T]
};

// softmax(v . tanh(hidden_t)) over the rows of x; `hidden` has the guide in it already.
Summary read(const Var& hidden, const Var& v, const Var& x, Lengths lengths) {
  const Attended seen = attend(Tensor::zeros({1, v.dim(0)}), hidden, x,
                               {.score = score::Additive{.v = v}, .lengths = lengths, .want = {.weights = true}});
  return {reshape(seen.context, {x.dim(0), x.dim(2)}), reshape(seen.weights, {x.dim(0), x.dim(1)})};
}

// softmax(v . tanh(W_x x + guide)) over the rows of x; guide [B, 1, h], or [1, h] for all.
Summary read(const Var& guide, const AlternatingCoAttention::Step& step, const Var& x, Lengths lengths) {
  const Attended seen =
      attend(guide, x, x,
             {.score = score::Additive{.u = step.w_x, .v = step.v}, .lengths = lengths, .want = {.weights = true}});
  return {reshape(seen.context, {x.dim(0), x.dim(2)}), reshape(seen.weights, {x.dim(0), x.dim(1)})};
}

Var guide(const Var& summary, const AlternatingCoAttention::Step& step) {
  return project(reshape(summary, {summary.dim(0), 1, summary.dim(1)}), step.w_g, {});
}

}  // namespace

ParallelCoAttention ParallelCoAttention::make(std::int64_t dim_a, std::int64_t dim_b, std::int64_t hidden,
                                              std::uint64_t seed) {
  Rng rng(seed);
  return {xavier(dim_a, dim_b, rng), xavier(hidden, dim_a, rng), xavier(hidden, dim_b, rng), vector(hidden, rng),
          vector(hidden, rng)};
}

CoAttended ParallelCoAttention::operator()(const Var& a, const Var& b, Lengths a_lengths, Lengths b_lengths) const {
  const Var mapped_a = project(a, w_a, {});  // [B, T_a, h]
  const Var mapped_b = project(b, w_b, {});
  const Var turned = attention::project_plain(a, w, {});  // A W: then C = tanh(turned B')
  const Var c_b =
      attend(turned, b, mapped_b, {.score = score::Dot{}, .normalizer = normalizer::Tanh{}, .lengths = b_lengths})
          .context;
  const Var c_a =
      attend(b, turned, mapped_a, {.score = score::Dot{}, .normalizer = normalizer::Tanh{}, .lengths = a_lengths})
          .context;
  const Summary of_a = read(add(mapped_a, c_b), v_a, a, a_lengths);
  const Summary of_b = read(add(mapped_b, c_a), v_b, b, b_lengths);
  return {of_a.vector, of_b.vector, of_a.weights, of_b.weights};
}

NamedVars ParallelCoAttention::parameters() const {
  return {{"w", w}, {"w_a", w_a}, {"w_b", w_b}, {"v_a", v_a}, {"v_b", v_b}};
}

AlternatingCoAttention AlternatingCoAttention::make(std::int64_t dim_a, std::int64_t dim_b, std::int64_t hidden,
                                                    std::uint64_t seed) {
  Rng rng(seed);
  const auto step = [&](std::int64_t dim, std::int64_t guide_dim) -> Step {
    return {xavier(hidden, dim, rng),
            guide_dim > 0 ? xavier(hidden, guide_dim, rng) : attention::zero_parameter({1, hidden}),
            vector(hidden, rng)};
  };
  return {step(dim_b, 0), step(dim_a, dim_b), step(dim_b, dim_a)};
}

CoAttended AlternatingCoAttention::operator()(const Var& a, const Var& b, Lengths a_lengths, Lengths b_lengths) const {
  const Summary summary = read(first.w_g, first, b, b_lengths);
  const Summary of_a = read(guide(summary.vector, second), second, a, a_lengths);
  const Summary of_b = read(guide(of_a.vector, third), third, b, b_lengths);
  return {of_a.vector, of_b.vector, of_a.weights, of_b.weights};
}

NamedVars AlternatingCoAttention::parameters() const {
  NamedVars all;
  for (const auto& [name, step] : {std::pair{"first.", &first}, {"second.", &second}, {"third.", &third}}) {
    all.emplace_back(std::string(name) + "w_x", step->w_x);
    all.emplace_back(std::string(name) + "w_g", step->w_g);
    all.emplace_back(std::string(name) + "v", step->v);
  }
  return all;
}

}  // namespace fovea
