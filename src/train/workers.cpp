#include "train/workers.hpp"

#include "base/rng.hpp"
#include "base/serial_scope.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

Workers::Workers(const ModelConfig& config, Parameters& parameters, int count) : parameters_(parameters) {
  for (int i = 0; i < count; ++i) {
    auto worker = std::make_unique<Worker>();
    if (i > 0) worker->parameters = parameters.replica();
    worker->model = std::make_unique<Seq2Seq>(config, i > 0 ? worker->parameters : parameters);
    workers_.push_back(std::move(worker));
  }
}

template <class Body>
BatchTotals Workers::each(const Pairs& pairs, std::vector<std::int64_t>& batch, std::int64_t micro_tokens, int times,
                          const Body& body) {
  cut_batch(pairs, batch, std::max<std::int64_t>(1, micro_tokens / times), count(), ends_);
  parallel_for(count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t w = begin; w < end; ++w) {
      Worker& worker = *workers_[static_cast<std::size_t>(w)];
      const WorkArena::Use own(worker.arena);
      const SerialScope alone;  // also when there are fewer copies than threads: layers cut their work by free threads
      worker.totals = {};
      for (auto g = static_cast<std::size_t>(w); g < ends_.size(); g += workers_.size()) {
        const std::size_t from = g == 0 ? 0 : ends_[g - 1];
        worker.batch.fill(pairs, std::span(batch).subspan(from, ends_[g] - from), times);
        body(worker, g);
        worker.totals.target_tokens += worker.batch.target_tokens;
        worker.totals.source_tokens += worker.batch.source_tokens;
      }
    }
  });
  BatchTotals sum;
  for (const auto& worker : workers_) {
    sum.loss += worker->totals.loss;
    sum.nll += worker->totals.nll;
    sum.correct += worker->totals.correct;
    sum.target_tokens += worker->totals.target_tokens;
    sum.source_tokens += worker->totals.source_tokens;
  }
  return sum;
}

BatchTotals Workers::run(const Pairs& pairs, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                         const DropoutRates& dropout, const LossOptions& how, std::uint64_t seed) {
  const int times = how.r_drop > 0 ? 2 : 1;
  const BatchTotals totals = each(pairs, batch, micro_tokens, times, [&](Worker& worker, std::size_t group) {
    Pass pass{.dropout = dropout, .seed = mix64(seed ^ mix64(group + 1))};
    const BatchLoss cost =
        worker.model->loss(worker.batch.source_view(), worker.batch.target_view(), worker.batch.wanted, how, pass);
    worker.totals.loss += cost.loss.value().item();
    worker.totals.nll += cost.nll;
    worker.totals.correct += cost.correct;
    backward(cost.loss);
  });
  sum_gradients();
  return totals;
}

BatchTotals Workers::measure(const Pairs& pairs, std::vector<std::int64_t>& batch, std::int64_t micro_tokens) {
  return each(pairs, batch, micro_tokens, 1, [](Worker& worker, std::size_t) {
    const NoGrad quiet;
    Pass pass;
    const BatchLoss cost =
        worker.model->loss(worker.batch.source_view(), worker.batch.target_view(), worker.batch.wanted, {}, pass);
    worker.totals.loss += cost.loss.value().item();
    worker.totals.nll += cost.nll;
    worker.totals.correct += cost.correct;
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
