// Training a model of pictures on their captions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/picture_model.hpp"
#include "fovea/text/tokens.hpp"
#include "fovea/train/learner.hpp"
#include "tasks/captioning/caption_set.hpp"
#include "tasks/captioning/feature_cache.hpp"

namespace fovea {

/// What captions are learned from; all of it outlives the learners.
struct CaptionData {
  const ModelConfig& config;
  const PictureStore& pictures;
  const CaptionSet& captions;
  const FeatureCache* features = nullptr;  // of a frozen CNN; null: it is trained too
};

class CaptionLearner final : public Learner {
 public:
  CaptionLearner(const CaptionData& data, Parameters& parameters) : data_(data), model_(data.config, parameters) {}
  [[nodiscard]] BatchLoss loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) override;

 private:
  [[nodiscard]] Var features();  // of pictures_

  const CaptionData& data_;
  PictureModel model_;
  std::vector<std::int64_t> pictures_, captions_;     // of the batch
  std::vector<std::int64_t> seen_;                    // its different examples
  std::vector<std::int32_t> rows_;                    // which picture each caption is of
  std::vector<std::int64_t> regions_, rows_regions_;  // how many there are, for each picture and each caption
  std::vector<Picture> spare_;
  std::vector<const Picture*> pixels_;
  PaddedTokens target_, wanted_;
};

[[nodiscard]] LearnerFactory caption_learners(const CaptionData& data);

}  // namespace fovea
