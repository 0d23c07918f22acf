#include "fovea/attention/pooling.hpp"

#include "attention/mechanisms/weights.hpp"

namespace fovea {

LearnedPooling::LearnedPooling(Parameters& p, const std::string& name, const LearnedPoolingOptions& options) {
  attention::require_sizes(name, {{"queries", options.queries}, {"dim", options.dim}});
  queries = attention::dot_vectors(p, name + ".queries", {options.queries, options.dim});
}

Attended LearnedPooling::operator()(const Var& x, AttendOptions how) const {
  how.score = score;
  return attend(queries, x, x, how);
}

ContextPooling::ContextPooling(Parameters& p, const std::string& name, std::int64_t dim, std::int64_t hidden) {
  attention::require_sizes(name, {{"dim", dim}, {"hidden", hidden}});
  w = p.get(name + ".w", {hidden, dim}, Init::xavier);
  b = p.get(name + ".b", {1, hidden}, Init::zeros);
  context = attention::dot_vectors(p, name + ".context", {hidden});
}

Attended ContextPooling::operator()(const Var& x, std::span<const std::int64_t> lengths,
                                    const WeightsRequest& want) const {
  // The bias takes the projected query's place in v . tanh(W q + U k).
  return attend(b, x, x, {.score = score::Additive{.u = w, .v = context}, .lengths = lengths, .want = want});
}

}  // namespace fovea
