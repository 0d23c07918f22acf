#include "tasks/captioning/caption_task.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/processes.hpp"
#include "fovea/model/picture_source.hpp"
#include "tasks/captioning/caption_outputs.hpp"
#include "tasks/training/tokenizers.hpp"

namespace fovea {
namespace {

constexpr const char* kFeatureFiles[] = {"features.cache", "valid-features.cache"};

}  // namespace

CaptionTask::CaptionTask(TrainingJob& job, Parameters& parameters) : job_(job), parameters_(parameters) {
  train_.text = text::read_parallel(job.source, job.target);
  valid_.text = text::read_parallel(job.valid_source, job.valid_target);
  if (!job.picture_weights.empty()) put_picture_weights(job.picture_weights, job.config.pictures(), parameters);
}

Tokenizers CaptionTask::make_tokenizers(std::vector<std::string>& notes) {
  Tokenizers made{nullptr, make_tokenizer(job_, train_.text.target, "vocabulary", notes)};
  job_.config.generator().vocabulary = made.target->size();
  return made;
}

void CaptionTask::encode(Part& part, const char* what, std::vector<std::string>& notes) const {
  part.pictures.emplace(CaptionSet::places(part.text), job_.config.pictures().picture_size);
  part.captions.emplace(part.text, *part.pictures, *tokenizers_->target, job_.max_length);
  bool first = true;
  for (const std::string& note : part.captions->notes()) {
    notes.push_back(first ? fmt::format("{}: {}", what, note) : note);
    first = false;
  }
}

void CaptionTask::encode(const Tokenizers& tokenizers, bool /*resumes*/, std::vector<std::string>& notes) {
  tokenizers_ = &tokenizers;
  encode(train_, "training", notes);
  encode(valid_, "validation", notes);
  plan_.emplace(*train_.captions, job_.options.batch_tokens, job_.options.seed);
}

void CaptionTask::build_model(bool /*resumes*/, std::vector<std::string>& /*notes*/) {
  build_weights(job_.config, parameters_);
  if (job_.freeze) parameters_.freeze(kPictureWeights);
}

void CaptionTask::add_identity(nlohmann::json& fingerprint) const {
  fingerprint["captions"] = train_.captions->captions();
  fingerprint["text"] = fmt::format("{:016x}", train_.captions->hash());
  fingerprint["validation"] = fmt::format("{:016x}", valid_.captions->hash());
  fingerprint["freeze"] = job_.freeze;
  fingerprint["doubly-stochastic"] = job_.doubly_stochastic;
  fingerprint["attention-entropy"] = job_.attention_entropy;
}

void CaptionTask::begin(Part& part, const char* cache) const {
  if (job_.freeze) part.features.emplace(job_.config, parameters_, *part.pictures, job_.model / cache);
  part.data.emplace(
      CaptionData{job_.config, *part.pictures, *part.captions, part.features ? &*part.features : nullptr, 0, 0});
}

void CaptionTask::begin() {
  begin(train_, kFeatureFiles[0]);
  begin(valid_, kFeatureFiles[1]);
  train_.data->doubly_stochastic = job_.doubly_stochastic;
  train_.data->entropy = job_.attention_entropy;
}

ExampleSet CaptionTask::training_set() const {
  return {*train_.captions, train_.captions->examples(), caption_learners(*train_.data)};
}

ExampleSet CaptionTask::validation_set() const {
  return {*valid_.captions, valid_.captions->examples(), caption_learners(*valid_.data)};
}

std::vector<ValidationSample> CaptionTask::outputs(const Parameters& weights, const BatchTotals& /*totals*/,
                                                   Validation& v) const {
  return caption_samples(job_, *tokenizers_, valid_.text, *valid_.data, weights, v);
}

std::vector<ReportedLine> CaptionTask::report_lines() const {
  return reported_captions(job_, valid_.text, *valid_.pictures);
}

void CaptionTask::finish(Trainer::End end) {
  // What only helps to go on sooner has no place in a finished model.
  if (end == Trainer::End::interrupted || !processes().first()) return;
  for (const char* file : kFeatureFiles) {
    std::error_code ignored;
    std::filesystem::remove(job_.model / file, ignored);
  }
}

}  // namespace fovea
