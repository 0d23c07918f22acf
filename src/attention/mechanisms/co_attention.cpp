#include "fovea/attention/co_attention.hpp"

#include "attention/mechanisms/weights.hpp"
#include "attention/project.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using attention::project;
using Lengths = std::span<const std::int64_t>;

void require(const std::string& name, const CoAttentionOptions& options) {
  attention::require_sizes(name, {{"dim_a", options.dim_a}, {"dim_b", options.dim_b}, {"hidden", options.hidden}});
}

struct Summary {
  Var vector, weights;  // [B, d], [B, T]
};

// softmax(v . tanh(hidden_t)) over the rows of x; `hidden` has the guide in it already.
Summary summarize(const Var& hidden, const Var& v, const Var& x, Lengths lengths) {
  const Attended attended = attend(Tensor::zeros({1, v.dim(0)}), hidden, x,
                                   {.score = score::Additive{.v = v}, .lengths = lengths, .want = {.weights = true}});
  return {reshape(attended.context, {x.dim(0), x.dim(2)}), reshape(attended.weights, {x.dim(0), x.dim(1)})};
}

// softmax(v . tanh(W_x x + guide)) over the rows of x; guide [B, 1, h], or [1, h] for all.
Summary summarize(const Var& guide, const AlternatingCoAttention::Step& step, const Var& x, Lengths lengths) {
  const Attended attended =
      attend(guide, x, x,
             {.score = score::Additive{.u = step.w_x, .v = step.v}, .lengths = lengths, .want = {.weights = true}});
  return {reshape(attended.context, {x.dim(0), x.dim(2)}), reshape(attended.weights, {x.dim(0), x.dim(1)})};
}

Var guide(const Var& summary, const AlternatingCoAttention::Step& step) {
  return project(reshape(summary, {summary.dim(0), 1, summary.dim(1)}), step.w_g, {});
}

}  // namespace

ParallelCoAttention::ParallelCoAttention(Parameters& p, const std::string& name, const CoAttentionOptions& options) {
  require(name, options);
  w = p.get(name + ".w", {options.dim_a, options.dim_b}, Init::xavier);
  w_a = p.get(name + ".w_a", {options.hidden, options.dim_a}, Init::xavier);
  w_b = p.get(name + ".w_b", {options.hidden, options.dim_b}, Init::xavier);
  v_a = attention::dot_vectors(p, name + ".v_a", {options.hidden});
  v_b = attention::dot_vectors(p, name + ".v_b", {options.hidden});
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
  const Summary of_a = summarize(add(mapped_a, c_b), v_a, a, a_lengths);
  const Summary of_b = summarize(add(mapped_b, c_a), v_b, b, b_lengths);
  return {of_a.vector, of_b.vector, of_a.weights, of_b.weights};
}

AlternatingCoAttention::AlternatingCoAttention(Parameters& p, const std::string& name,
                                               const CoAttentionOptions& options) {
  require(name, options);
  const std::int64_t a = options.dim_a, b = options.dim_b, hidden = options.hidden;
  const auto step = [&](const std::string& prefix, std::int64_t dim, std::int64_t guide_dim) -> Step {
    return {p.get(prefix + ".w_x", {hidden, dim}, Init::xavier),
            guide_dim > 0 ? p.get(prefix + ".w_g", {hidden, guide_dim}, Init::xavier)
                          : p.get(prefix + ".w_g", {1, hidden}, Init::zeros),
            attention::dot_vectors(p, prefix + ".v", {hidden})};
  };
  first = step(name + ".first", b, 0);
  second = step(name + ".second", a, b);
  third = step(name + ".third", b, a);
}

CoAttended AlternatingCoAttention::operator()(const Var& a, const Var& b, Lengths a_lengths, Lengths b_lengths) const {
  const Summary summary = summarize(first.w_g, first, b, b_lengths);
  const Summary of_a = summarize(guide(summary.vector, second), second, a, a_lengths);
  const Summary of_b = summarize(guide(of_a.vector, third), third, b, b_lengths);
  return {of_a.vector, of_b.vector, of_a.weights, of_b.weights};
}

}  // namespace fovea
