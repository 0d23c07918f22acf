#include "tasks/classification/label_learner.hpp"

namespace fovea {

BatchLoss LabelLearner::loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) {
  const auto example = [&](std::int64_t row) { return examples[static_cast<std::size_t>(row)]; };
  source_.fill(static_cast<std::int64_t>(examples.size()), [&](std::int64_t row) {
    return TextSource{pairs_.source(example(row)), pairs_.parts(example(row))};
  });
  labels_.clear();
  // A label that training did not have is no class: it costs nothing, as padding does.
  for (const std::int64_t one : examples) {
    const std::int32_t id = pairs_.target(one)[0];
    labels_.push_back(id >= special_ids ? id - special_ids : -1);
  }
  return model_.loss(source_.view(), labels_, how, pass);
}

LearnerFactory label_learners(const ModelConfig& config, const text::Pairs& pairs) {
  return [&config, &pairs](Parameters& parameters) -> std::unique_ptr<Learner> {
    return std::make_unique<LabelLearner>(config, pairs, parameters);
  };
}

}  // namespace fovea
