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
  LabelLearner(const ModelConfig& config, const text::Pairs& pairs, Parameters& parameters)
      : model_(config, parameters), pairs_(pairs) {}
  [[nodiscard]] BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) override;
  [[nodiscard]] std::vector<TrainedRows> rows() const override { return {model_.table().trained()}; }

 private:
  TextClassifier model_;
  const text::Pairs& pairs_;
  TextRows source_;
  std::vector<std::int32_t> labels_;
};

/// Both must outlive what it makes.
[[nodiscard]] LearnerFactory label_learners(const ModelConfig& config, const text::Pairs& pairs);

}  // namespace fovea
