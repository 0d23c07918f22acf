#include "tasks/pair_learner.hpp"

namespace fovea {

void PairBatch::fill(const text::Pairs& pairs, std::span<const std::int64_t> which, Marks source_marks,
                     std::int32_t vocabulary) {
  const auto count = static_cast<std::int64_t>(which.size());
  const auto pair = [&](std::int64_t row) { return which[static_cast<std::size_t>(row)]; };
  const auto target_of = [&](std::int64_t row) { return pairs.target(pair(row)); };
  source.fill(count, source_marks, [&](std::int64_t row) { return pairs.source(pair(row)); });
  target.fill(count, Marks::begin, target_of);
  wanted.fill(count, Marks::end, target_of);
  if (vocabulary == 0) return;
  source.fill_copies([&](std::int64_t row) { return pairs.copies(pair(row)); });
  target.cut_ids(vocabulary);
}

BatchLoss PairLearner::loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) {
  const bool end = model_.config().tokens().end_of_sequence;
  batch_.fill(pairs_, examples, end ? Marks::end : Marks::none, copying_from_);
  return model_.loss(batch_.source.view(), batch_.target.view(), batch_.wanted.view().ids, how, pass);
}

LearnerFactory pair_learners(const ModelConfig& config, const text::Pairs& pairs) {
  return [&config, &pairs](Parameters& parameters) -> std::unique_ptr<Learner> {
    return std::make_unique<PairLearner>(config, pairs, parameters);
  };
}

}  // namespace fovea
