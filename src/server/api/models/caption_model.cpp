#include "server/api/models/caption_model.hpp"

#include "base/heap_bytes.hpp"

namespace fovea::server {
namespace {

CaptionJob& caption_job_of(const Item& item) {
  return static_cast<CaptionJob&>(*item.job);  // a model receives only its own jobs
}

}  // namespace

std::unique_ptr<Model> CaptionModel::load(const ModelPlace& place) {
  return std::make_unique<CaptionModel>(place.name_or_folder(),
                                        std::make_unique<const Captioner>(place.folder, place.load));
}

CaptionModel::CaptionModel(std::string name, std::unique_ptr<const Captioner> captioner)
    : Model(Task::caption, std::move(name)), captioner_(std::move(captioner)) {}

void CaptionModel::add_description(nlohmann::json& json) const {
  json["attention"] = attends();
  json["pictureSize"] = picture_size();
}

bool CaptionModel::together(const Job& a, const Job& b) const {
  return share_batch(static_cast<const CaptionJob&>(a).how, static_cast<const CaptionJob&>(b).how);
}

BatchTokens CaptionModel::run(std::span<const Item> items, BatchContext& context) const {
  std::vector<Picture> pictures;
  pictures.reserve(items.size());
  for (const Item& item : items) pictures.push_back(caption_job_of(item).picture);
  auto results = captioner_->captions(std::span<const Picture>(pictures), caption_job_of(items[0]).how);
  BatchTokens done;
  for (std::size_t i = 0; i < items.size(); ++i) {
    CaptionJob& job = caption_job_of(items[i]);
    Generated& best = results[i][0];
    done.read += static_cast<std::int64_t>(best.attention.source.size());
    done.written += static_cast<std::int64_t>(best.attention.target.size());
    context.reserve(job, heap_bytes(best));
    job.results[items[i].line] = std::move(best);
  }
  return done;
}

}  // namespace fovea::server
