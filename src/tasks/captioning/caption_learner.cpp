#include "tasks/captioning/caption_learner.hpp"

#include <algorithm>
#include <iterator>

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
  seen_.clear();
  // An example that comes again, as with R-Drop, shares the regions of the first time: the CNN runs once a picture.
  for (const std::int64_t one : examples) {
    const CaptionSet::Example& e = data_.captions.example(one);
    const auto place = std::find(seen_.begin(), seen_.end(), one) - seen_.begin();
    if (place == std::ssize(seen_)) {
      seen_.push_back(one);
      pictures_.push_back(e.picture);
    }
    for (std::int64_t c = e.begin; c < e.end; ++c) {
      captions_.push_back(c);
      rows_.push_back(static_cast<std::int32_t>(place));
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
  return model_.generator().loss(&memory, target_.view(), wanted_.view().ids, how, pass);
}

LearnerFactory caption_learners(const CaptionData& data) {
  return [&data](Parameters& parameters) -> std::unique_ptr<Learner> {
    return std::make_unique<CaptionLearner>(data, parameters);
  };
}

}  // namespace fovea
