#include "fovea/attention/multi_representational.hpp"

#include <fmt/format.h>

#include "attention/mechanisms/weights.hpp"
#include "fovea/attention/attend.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

MultiRepresentational::MultiRepresentational(Parameters& p, const std::string& name, std::span<const std::int64_t> dims,
                                             std::int64_t dim) {
  attention::require_sizes(name, {{"dim", dim}});
  for (std::size_t n = 0; n < dims.size(); ++n) {
    attention::require_sizes(name, {{"dims", dims[n]}});
    maps.emplace_back(p, fmt::format("{}.{}", name, n), dims[n], dim);
  }
  context = attention::dot_vectors(p, name + ".context", {1, dim});
}

MultiRepresentational::Result MultiRepresentational::operator()(std::span<const Var> embeddings) const {
  if (embeddings.empty() || embeddings.size() != maps.size()) {
    throw ShapeError(fmt::format("multi_representational: {} embeddings for {} maps", embeddings.size(), maps.size()));
  }
  const std::int64_t batch = embeddings[0].dim(0), steps = embeddings[0].dim(1), dim = context.dim(1);
  std::vector<Var> mapped;
  for (std::size_t n = 0; n < embeddings.size(); ++n) {
    const Shape expected{batch, steps, maps[n].weight.in()};
    if (!(embeddings[n].shape() == expected)) {
      throw ShapeError(fmt::format("multi_representational: embedding {} is {}: expected {}", n,
                                   embeddings[n].shape().text(), expected.text()));
    }
    mapped.push_back(maps[n](embeddings[n]));
  }
  // Every word is a sequence of its own; its keys are its embeddings.
  const auto count = static_cast<std::int64_t>(mapped.size());
  const Var keys = reshape(stack(mapped, 2), {batch * steps, count, dim});
  const Attended attended = attend(context, keys, keys, {.score = score::Dot{}, .want = {.weights = true}});
  return {reshape(attended.context, {batch, steps, dim}), reshape(attended.weights, {batch, steps, count})};
}

}  // namespace fovea
