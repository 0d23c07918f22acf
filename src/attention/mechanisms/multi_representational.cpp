#include "fovea/attention/multi_representational.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attention/mechanisms/small_ops.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

MultiRepresentational MultiRepresentational::make(std::span<const std::int64_t> dims, std::int64_t dim,
                                                  std::uint64_t seed) {
  Rng rng(seed);
  MultiRepresentational m;
  for (const std::int64_t d : dims) {
    m.projections.push_back({attention::xavier(d, dim, rng), attention::zero_parameter({dim})});
  }
  m.context = attention::normal({1, dim}, 1 / std::sqrt(static_cast<double>(dim)), rng);
  return m;
}

MultiRepresentational::Mixed MultiRepresentational::operator()(std::span<const Var> embeddings) const {
  if (embeddings.empty() || embeddings.size() != projections.size()) {
    throw ShapeError(
        fmt::format("multi_representational: {} embeddings for {} projections", embeddings.size(), projections.size()));
  }
  const std::int64_t batch = embeddings[0].dim(0), steps = embeddings[0].dim(1), dim = context.dim(1);
  std::vector<Var> mapped;
  for (std::size_t n = 0; n < embeddings.size(); ++n) {
    const Shape expected{batch, steps, projections[n].weight.dim(0)};
    if (!(embeddings[n].shape() == expected)) {
      throw ShapeError(fmt::format("multi_representational: embedding {} is {}: expected {}", n,
                                   embeddings[n].shape().text(), expected.text()));
    }
    mapped.push_back(attention::project_plain(embeddings[n], projections[n].weight, projections[n].bias));
  }
  // Every word is a sequence of its own; its keys are its representations.
  const Var choices = attention::stack_rows(mapped);  // [B * T, n, d]
  const Attended seen = attend(context, choices, choices, {.score = score::Dot{}, .want = {.weights = true}});
  return {reshape(seen.context, {batch, steps, dim}),
          reshape(seen.weights, {batch, steps, static_cast<std::int64_t>(mapped.size())})};
}

NamedVars MultiRepresentational::parameters() const {
  NamedVars all{{"context", context}};
  for (std::size_t n = 0; n < projections.size(); ++n) {
    all.emplace_back(fmt::format("{}.weight", n), projections[n].weight);
    all.emplace_back(fmt::format("{}.bias", n), projections[n].bias);
  }
  return all;
}

}  // namespace fovea
