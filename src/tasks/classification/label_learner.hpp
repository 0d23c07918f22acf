// Training a classifier on texts with labels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/text_classifier.hpp"
#include "fovea/train/learner.hpp"
#include "tasks/classification/text_rows.hpp"
#include "text/pairs.hpp"

namespace fovea {

/// A TextClassifier at work on pairs whose target is one label.
class LabelLearner final : public Learner {
 public:
  /// `penalty` of the hops, as ClassifierHead::loss takes it.
  LabelLearner(const ModelConfig& config, const text::Pairs& pairs, float penalty, Parameters& parameters)
      : model_(config, parameters), pairs_(pairs), penalty_(penalty) {}
  [[nodiscard]] BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) override;
  [[nodiscard]] std::vector<TrainedRows> rows() const override { return {model_.table().trained()}; }

 private:
  TextClassifier model_;
  const text::Pairs& pairs_;
  float penalty_;
  TextRows source_;
  std::vector<std::int32_t> labels_;
};

/// Both must outlive what it makes.
[[nodiscard]] LearnerFactory label_learners(const ModelConfig& config, const text::Pairs& pairs, float penalty);

}  // namespace fovea
