#include "tasks/captioning/caption_learner.hpp"

namespace fovea {

Var CaptionLearner::features() {
  if (data_.features != nullptr) return data_.features->features(pictures_);
  spare_.resize(pictures_.size());
  pixels_.clear();
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    pixels_.push_back(&data_.pictures.picture(pictures_[i], spare_[i]));
  }
  return model_.features(pixels_);
}

BatchLoss CaptionLearner::loss(std::span<const std::int64_t> examples, const LossOptions& how, Pass& pass) {
  pictures_.clear();
  captions_.clear();
  rows_.clear();
  // With R-Drop every caption stands there twice, one half after the other.
  for (int time = 0; time < (how.r_drop > 0 ? 2 : 1); ++time) {
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const CaptionSet::Example& e = data_.captions.example(examples[i]);
      if (time == 0) pictures_.push_back(e.picture);
      for (std::int64_t c = e.begin; c < e.end; ++c) {
        captions_.push_back(c);
        rows_.push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  const std::int64_t grid = data_.config.pictures().grid();
  regions_.assign(pictures_.size(), grid * grid);
  rows_regions_.assign(captions_.size(), grid * grid);
  const auto rows = static_cast<std::int64_t>(captions_.size());
  const auto caption = [&](std::int64_t r) { return data_.captions.caption(captions_[static_cast<std::size_t>(r)]); };
  target_.fill(rows, Marks::begin, caption);
  wanted_.fill(rows, Marks::end, caption);
  Memory memory = model_.encode(features(), regions_, pass);
  memory.rows = rows_;
  memory.rows_lengths = rows_regions_;
  LossOptions all = how;
  all.doubly_stochastic = data_.doubly_stochastic;
  all.entropy = data_.entropy;
  return model_.generator().loss(&memory, target_.view(), wanted_.view().ids, all, pass);
}

LearnerFactory caption_learners(const CaptionData& data) {
  return [&data](Parameters& parameters) -> std::unique_ptr<Learner> {
    return std::make_unique<CaptionLearner>(data, parameters);
  };
}

}  // namespace fovea
