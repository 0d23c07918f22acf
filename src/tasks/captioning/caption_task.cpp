#include "tasks/captioning/caption_task.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/processes.hpp"
#include "fovea/model/picture_source.hpp"
#include "tasks/captioning/caption_outputs.hpp"
#include "tasks/training/text/tokenizers.hpp"

namespace fovea {
namespace {

constexpr const char* kFeatureFiles[] = {"features.cache", "valid-features.cache"};

}  // namespace

CaptionTask::CaptionTask(const TrainingJob& job, Parameters& parameters) : job_(job), parameters_(parameters) {
  train_.text = text::read_parallel(job.source, job.target);
  valid_.text = text::read_parallel(job.valid_source, job.valid_target);
  const std::filesystem::path& weights = std::get<CaptionTraining>(job.task).picture_weights;
  if (!weights.empty()) put_picture_weights(weights, job.config.pictures(), parameters);
}

TaskDecisions CaptionTask::decide(const ResumedModel* resumed) {
  std::vector<std::string> notes;
  if (resumed != nullptr) {
    job_.config = resumed->config;
    tokenizers_ = resumed->tokenizers;
  } else {
    tokenizers_ = {nullptr, make_tokenizer(job_, train_.text.target, "vocabulary", notes)};
    job_.config.generator().vocabulary = tokenizers_.target->size();
  }
  encode(train_, "training", notes);
  encode(valid_, "validation", notes);
  plan_.emplace(*train_.captions, job_.options.batch_tokens, job_.options.seed);
  return {job_, tokenizers_, std::move(notes)};
}

void CaptionTask::encode(Part& part, const char* what, std::vector<std::string>& notes) const {
  part.pictures.emplace(CaptionSet::places(part.text), job_.config.pictures().picture_size);
  part.captions.emplace(part.text, *part.pictures, *tokenizers_.target, job_.max_length);
  bool first = true;
  for (const std::string& note : part.captions->notes()) {
    notes.push_back(first ? fmt::format("{}: {}", what, note) : note);
    first = false;
  }
}

std::vector<std::string> CaptionTask::build_model(bool /*resumes*/) {
  build_weights(job_.config, parameters_);
  if (freezes()) parameters_.freeze(kPictureWeights);
  return {};
}

nlohmann::json CaptionTask::identity() const {
  return {{"captions", train_.captions->captions()},
          {"text", fmt::format("{:016x}", train_.captions->hash())},
          {"validation", fmt::format("{:016x}", valid_.captions->hash())},
          {"freeze", freezes()},
          {"doubly-stochastic", job_.options.loss.doubly_stochastic},
          {"attention-entropy", job_.options.loss.attention_entropy}};
}

void CaptionTask::begin(Part& part, const char* cache) const {
  if (freezes()) part.features.emplace(job_.config, parameters_, *part.pictures, job_.model / cache);
  part.data.emplace(
      CaptionData{job_.config, *part.pictures, *part.captions, part.features ? &*part.features : nullptr});
}

void CaptionTask::begin() {
  begin(train_, kFeatureFiles[0]);
  begin(valid_, kFeatureFiles[1]);
}

ExampleSet CaptionTask::training_set() const {
  return {*train_.captions, train_.captions->examples(), caption_learners(*train_.data)};
}

ExampleSet CaptionTask::validation_set() const {
  return {*valid_.captions, valid_.captions->examples(), caption_learners(*valid_.data)};
}

std::vector<ValidationSample> CaptionTask::outputs(const Parameters& weights, const BatchTotals& /*totals*/,
                                                   Validation& v) const {
  return caption_samples(job_, tokenizers_, valid_.text, *valid_.data, weights, v);
}

std::vector<ReportedLine> CaptionTask::report_lines() const {
  return reported_captions(job_, valid_.text, *valid_.pictures);
}

void CaptionTask::finish(Trainer::End end) {
  // Caches only speed up resuming: a finished model does not need them.
  if (end == Trainer::End::interrupted || !processes().first()) return;
  for (const char* file : kFeatureFiles) {
    std::error_code ignored;
    std::filesystem::remove(job_.model / file, ignored);
  }
}

}  // namespace fovea
