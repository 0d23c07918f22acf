#include "fovea/attention/pooling.hpp"

#include <cmath>

#include "attention/mechanisms/small_ops.hpp"

namespace fovea {

LearnedPooling LearnedPooling::make(std::int64_t queries, std::int64_t dim, std::uint64_t seed) {
  Rng rng(seed);
  return {attention::normal({queries, dim}, 1 / std::sqrt(static_cast<double>(dim)), rng)};
}

Attended LearnedPooling::operator()(const Var& x, AttendOptions how) const {
  how.score = score;
  return attend(queries, x, x, how);
}

ContextPooling ContextPooling::make(std::int64_t dim, std::int64_t hidden, std::uint64_t seed) {
  Rng rng(seed);
  return {attention::xavier(hidden, dim, rng), attention::zero_parameter({1, hidden}),
          attention::normal({hidden}, 1 / std::sqrt(static_cast<double>(hidden)), rng)};
}

Attended ContextPooling::operator()(const Var& x, std::span<const std::int64_t> lengths,
                                    const WeightsRequest& want) const {
  // The bias takes the projected query's place in v . tanh(W q + U k).
  return attend(b, x, x, {.score = score::Additive{.u = w, .v = context}, .lengths = lengths, .want = want});
}

}  // namespace fovea
