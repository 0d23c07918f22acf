#include "train/workers.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/rng.hpp"
#include "base/serial_scope.hpp"
#include "fovea/threads.hpp"
#include "train/cut_batch.hpp"

namespace fovea {

Workers::Workers(const LearnerFactory& make_learner, Parameters& parameters, int count, Processes& processes)
    : processes_(processes), sum_gradients_(processes, count), count_(count) {
  for (int i = 0; i < sum_gradients_.local(); ++i) {
    auto worker = std::make_unique<Worker>();
    if (i > 0) worker->parameters = parameters.replica();
    Parameters& own = i > 0 ? worker->parameters : parameters;
    worker->learner = make_learner(own);
    for (std::size_t e = 0; e < own.entries().size(); ++e) {
      own.entries()[e].weight.set_number(static_cast<std::int32_t>(e));
    }
    copies_.push_back(&own);
    rows_.push_back(worker->learner->rows());
    workers_.push_back(std::move(worker));
  }
}

// Calls body(copy, worker, examples, group, last) for each micro-batch of a copy, and after(copy) when it has no more.
template <class Body, class After>
BatchTotals Workers::each(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                          int times, const Body& body, const After& after) {
  cut_batch(examples, batch, std::max<std::int64_t>(1, micro_tokens / times), count_, ends_);
  parallel_for(sum_gradients_.local(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t w = begin; w < end; ++w) {
      Worker& worker = *workers_[static_cast<std::size_t>(w)];
      const WorkArena::Use own(worker.arena);
      const SerialScope alone;  // also when there are fewer copies than threads: layers cut their work by free threads
      worker.totals = {};
      const auto copy = static_cast<std::size_t>(sum_gradients_.first() + w);
      for (std::size_t g = copy; g < ends_.size(); g += static_cast<std::size_t>(count_)) {
        const std::size_t from = g == 0 ? 0 : ends_[g - 1];
        const bool last = g + static_cast<std::size_t>(count_) >= ends_.size();
        const auto part = std::span<const std::int64_t>(batch).subspan(from, ends_[g] - from);
        const BatchLoss cost = body(static_cast<int>(w), worker, part, g, last);
        worker.totals.loss += cost.loss.value().item();
        worker.totals.nll += cost.nll;
        worker.totals.correct += cost.correct;
        worker.totals.outputs += cost.outputs;
      }
      after(static_cast<int>(w));
    }
  });
  return sum_totals();
}

// In the order of the copies, those of the other processes too.
BatchTotals Workers::sum_totals() const {
  BatchTotals sum;
  const auto add = [&sum](const BatchTotals& totals) {
    sum.loss += totals.loss;
    sum.nll += totals.nll;
    sum.correct += totals.correct;
    sum.outputs += totals.outputs;
  };
  if (processes_.alone()) {
    for (const auto& worker : workers_) add(worker->totals);
    return sum;
  }
  std::string own(workers_.size() * sizeof(BatchTotals), '\0');
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    std::memcpy(own.data() + w * sizeof(BatchTotals), &workers_[w]->totals, sizeof(BatchTotals));
  }
  for (const std::string& all : gather(processes_, own)) {
    for (std::size_t at = 0; at < all.size(); at += sizeof(BatchTotals)) {
      BatchTotals totals;
      std::memcpy(&totals, all.data() + at, sizeof(BatchTotals));
      add(totals);
    }
  }
  return sum;
}

BatchTotals Workers::run(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens,
                         const DropoutRates& dropout, const LossOptions& how, std::uint64_t seed, bool sum) {
  const int times = how.r_drop > 0 ? 2 : 1;
  const auto body = [&](int copy, Worker& worker, std::span<const std::int64_t> part, std::size_t group, bool last) {
    if (times == 2) {  // R-Drop: every example under two dropout masks, one half of the batch after the other
      worker.twice.assign(part.begin(), part.end());
      worker.twice.insert(worker.twice.end(), part.begin(), part.end());
      part = worker.twice;
    }
    Pass pass(dropout, mix64(seed ^ mix64(group + 1)));
    const BatchLoss cost = worker.learner->loss(part, how, pass);
    Watch watch(sum_gradients_, copy);
    backward(cost.loss, sum && last ? &watch : nullptr);
    return cost;
  };
  if (sum) sum_gradients_.begin(copies_, rows_);
  const BatchTotals totals = each(examples, batch, micro_tokens, times, body, [&](int copy) {
    if (sum) sum_gradients_.complete(copy);
  });
  if (sum) sum_gradients_.finish();
  return totals;
}

BatchTotals Workers::measure(const Examples& examples, std::vector<std::int64_t>& batch, std::int64_t micro_tokens) {
  const auto body = [](int, Worker& worker, std::span<const std::int64_t> part, std::size_t, bool) {
    const NoGrad quiet;
    Pass pass;
    return worker.learner->loss(part, {}, pass);
  };
  return each(examples, batch, micro_tokens, 1, body, [](int) {});
}

void Workers::clear_gradients() const {
  for (const Parameters* copy : copies_) copy->zero_grad();
  for (const auto& copy : rows_) {
    for (const TrainedRows& one : copy) one.gradient->clear();
  }
}

}  // namespace fovea
