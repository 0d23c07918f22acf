#include "train/workers.hpp"

#include "base/rng.hpp"
#include "base/serial_scope.hpp"
#include "fovea/threads.hpp"
#include "train/cut_batch.hpp"

namespace fovea {

Workers::Workers(const LearnerFactory& make_learner, Parameters& parameters, int count) : parameters_(parameters) {
  for (int i = 0; i < count; ++i) {
    auto worker = std::make_unique<Worker>();
    if (i > 0) worker->parameters = parameters.replica();
    worker->learner = make_learner(i > 0 ? worker->parameters : parameters);
    workers_.push_back(std::move(worker));
  }
}

template <class Body>
BatchTotals Workers::each(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                          int times, const Body& body) {
  cut_batch(examples, batch, std::max<std::int64_t>(1, micro_tokens / times), count(), ends_);
  parallel_for(count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t w = begin; w < end; ++w) {
      Worker& worker = *workers_[static_cast<std::size_t>(w)];
      const WorkArena::Use own(worker.arena);
      const SerialScope alone;  // also when there are fewer copies than threads: layers cut their work by free threads
      worker.totals = {};
      for (auto g = static_cast<std::size_t>(w); g < ends_.size(); g += workers_.size()) {
        const std::size_t from = g == 0 ? 0 : ends_[g - 1];
        const BatchLoss cost = body(worker, std::span<const std::int64_t>(batch).subspan(from, ends_[g] - from), g);
        worker.totals.loss += cost.loss.value().item();
        worker.totals.nll += cost.nll;
        worker.totals.correct += cost.correct;
        worker.totals.outputs += cost.outputs;
      }
    }
  });
  BatchTotals sum;
  for (const auto& worker : workers_) {
    sum.loss += worker->totals.loss;
    sum.nll += worker->totals.nll;
    sum.correct += worker->totals.correct;
    sum.outputs += worker->totals.outputs;
  }
  return sum;
}

BatchTotals Workers::run(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                         const DropoutRates& dropout, const LossOptions& how, std::uint64_t seed) {
  const int times = how.r_drop > 0 ? 2 : 1;
  const auto body = [&](Worker& worker, std::span<const std::int64_t> part, std::size_t group) {
    Pass pass{.rates = dropout, .seed = mix64(seed ^ mix64(group + 1))};
    const BatchLoss cost = worker.learner->loss(part, how, pass);
    backward(cost.loss);
    return cost;
  };
  const BatchTotals totals = each(examples, batch, micro_tokens, times, body);
  sum_gradients();
  return totals;
}

BatchTotals Workers::measure(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens) {
  return each(examples, batch, micro_tokens, 1, [](Worker& worker, std::span<const std::int64_t> part, std::size_t) {
    const NoGrad quiet;
    Pass pass;
    return worker.learner->loss(part, {}, pass);
  });
}

// The one place where gradients come together: threads now; other processes would join here.
void Workers::sum_gradients() {
  const auto& entries = parameters_.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t w = 1; w < workers_.size(); ++w) {
      const Var& part = workers_[w]->parameters.entries()[i].weight;
      entries[i].weight.accumulate(part.grad());
      part.zero_grad();
    }
  }
}

}  // namespace fovea
