#include "tasks/training/progress/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/processes.hpp"
#include "fovea/precision.hpp"

namespace fovea {

Validation Validator::operator()(std::span<const Tensor> weights) const {
  const ScopedPrecision products(Precision::fp32);  // as the model will be used
  Parameters validated(0);
  for (std::size_t i = 0; i < weights.size(); ++i) validated.put(parameters_.entries()[i].name, weights[i]);
  validated.seal();
  const ExampleSet set = task_.validation_set();
  Workers workers(set.learners, validated, job_.options.replica_count(), processes());
  std::vector<std::int64_t> all(static_cast<std::size_t>(set.count));
  std::iota(all.begin(), all.end(), 0);
  const BatchTotals totals = workers.measure(set.examples, all, job_.options.micro_tokens);
  Validation v;
  v.loss = totals.nll / static_cast<double>(std::max<std::int64_t>(1, totals.outputs));
  v.score = -v.loss;
  v.figures.emplace_back("valid_loss", v.loss);
  v.text = fmt::format("loss {:.4f}  ppl {:.2f}", v.loss, std::exp(v.loss));
  observer_.samples(task_.outputs(validated, totals, v));
  return v;
}

}  // namespace fovea
