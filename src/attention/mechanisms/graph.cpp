#include "fovea/attention/graph.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/weights.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

GraphAttention::GraphAttention(Parameters& p, const std::string& name, const GraphOptions& options)
    : heads(options.heads) {
  attention::require_sizes(name, {{"dim", options.dim}, {"out", options.out}, {"heads", heads}});
  w = p.get(name + ".w", {options.dim, heads * options.out}, Init::xavier);
  a_target = attention::dot_vectors(p, name + ".a_target", {heads, options.out});
  a_source = attention::dot_vectors(p, name + ".a_source", {heads, options.out});
}

Attended GraphAttention::operator()(const Var& x, const Edges& edges, const WeightsRequest& want) const {
  if (x.rank() != 2 || x.dim(1) != w.dim(0)) {
    throw ShapeError(fmt::format("graph: {}: expected [nodes,{}]", x.shape().text(), w.dim(0)));
  }
  const std::int64_t nodes = x.dim(0);
  const Var h = reshape(linear(x, w), {1, nodes, w.dim(1)});
  const Var by_head = reshape(h, {1, nodes, heads, w.dim(1) / heads});
  // a . [h_i; h_j] is a sum of one number per node and head: an additive score of width 1.
  return attend(sum(mul(by_head, a_target), 3), sum(mul(by_head, a_source), 3), h,
                {.score = score::Additive{.v = Tensor::full({1}, 1.0F), .activation = Activation::leaky_relu},
                 .heads = heads,
                 .edges = edges,
                 .want = want});
}

}  // namespace fovea
