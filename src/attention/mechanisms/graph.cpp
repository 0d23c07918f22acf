#include "fovea/attention/graph.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

GraphAttention GraphAttention::make(std::int64_t dim, std::int64_t out, std::int64_t heads, std::uint64_t seed) {
  Rng rng(seed);
  const double deviation = 1 / std::sqrt(static_cast<double>(out));
  return {attention::xavier(dim, heads * out, rng), attention::normal({heads, out}, deviation, rng),
          attention::normal({heads, out}, deviation, rng), heads};
}

Attended GraphAttention::operator()(const Var& x, const Edges& edges, const WeightsRequest& want) const {
  if (x.rank() != 2 || x.dim(1) != w.dim(0)) {
    throw ShapeError(fmt::format("graph: {}: expected [nodes,{}]", x.shape().text(), w.dim(0)));
  }
  const Var h = attention::project_plain(reshape(x, {1, x.dim(0), x.dim(1)}), w, {});
  // a . [h_i; h_j] is a sum of one number per node and head: an additive score of width 1.
  return attend(attention::head_dots(h, a_target), attention::head_dots(h, a_source), h,
                {.score = score::Additive{.v = Tensor::full({1}, 1.0F), .activation = Activation::leaky_relu},
                 .heads = heads,
                 .edges = edges,
                 .want = want});
}

}  // namespace fovea
