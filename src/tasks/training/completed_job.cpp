#include "tasks/training/completed_job.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "fovea/error.hpp"
#include "tasks/training/settings.hpp"
#include "tasks/training/training_text.hpp"

namespace fovea {
namespace {

constexpr int kAnyVocabulary = 100;  // of a config that is checked before there are vocabularies

void check_positions(std::int64_t positions, const TrainingJob& job) {
  if (positions > 0 && positions <= job.max_length) {
    throw UsageError(fmt::format("max_positions: {} are too few for a `max_length` of {} and the end of sequence",
                                 positions, job.max_length));
  }
}

void check_classifier(const TrainingJob& job) {
  if (job.shared_vocabulary) throw UsageError("shared_vocab: a classifier's labels are no text to share one with");
  if (job.validate_by == ValidateBy::bleu || job.validate_by == ValidateBy::rouge) {
    throw UsageError("validate: a classifier is validated by loss or accuracy");
  }
  const bool parts = std::holds_alternative<NgramSourceConfig>(job.config.source) ||
                     job.config.classifier().pooling == Pooling::hierarchical;
  if (parts && job.subword_sampling > 0) {
    throw UsageError("subword_sampling: neither n-grams nor sentences are sampled");
  }
}

void check_text(const TrainingJob& job) {
  check_text_fields(job);
  check_automatic(job);
  ModelConfig possible = job.config;
  possible.tokens().vocabulary = kAnyVocabulary;
  if (job.task == Task::classify) {
    possible.classifier().labels = 2;
    check_classifier(job);
  } else {
    possible.generator().vocabulary = kAnyVocabulary;
    if (!job.vectors.empty()) throw UsageError("vectors: they go with a classifier");
  }
  if (!(job.hops_penalty >= 0)) throw UsageError("hops_penalty: 0 or more is needed");
  possible.shared_vocabulary = job.shared_vocabulary || !job.tokenizer_model.empty();
  possible.check();
  check_positions(possible.longest_source(), job);
  check_positions(possible.longest_target(), job);
}

void check_captions(const TrainingJob& job) {
  if (!job.pairs.empty()) throw UsageError("pairs: captions are trained on a `source` of pictures and a `target`");
  for (const auto& [field, path] : {std::pair("source", &job.source),
                                    {"target", &job.target},
                                    {"valid_source", &job.valid_source},
                                    {"valid_target", &job.valid_target}}) {
    if (path->empty()) throw UsageError(fmt::format("{}: a training on pictures needs it", field));
  }
  const PictureSourceConfig& pictures = job.config.pictures();
  if (!job.picture_weights.empty() && pictures.picture_encoder != PictureEncoder::squeezenet) {
    throw UsageError("picture_weights: they are for the `picture_encoder` squeezenet, not small");
  }
  if (job.freeze && job.picture_weights.empty()) {
    throw UsageError("freeze: a picture encoder without `picture_weights` has yet to be trained");
  }
  if (!(job.doubly_stochastic >= 0)) throw UsageError("doubly_stochastic: 0 or more is needed");
  if (!(job.attention_entropy >= 0)) throw UsageError("attention_entropy: 0 or more is needed");
  if (job.shared_vocabulary) throw UsageError("shared_vocab: pictures have no vocabulary to share");
  if (job.subword_sampling > 0) throw UsageError("subword_sampling: captions have one segmentation");
  ModelConfig possible = job.config;
  possible.generator().vocabulary = kAnyVocabulary;
  possible.check();
  check_positions(possible.longest_target(), job);
}

}  // namespace

TrainingJob completed_job(const TrainingJob& given) {
  TrainingJob job = given;
  TrainOptions& o = job.options;
  require(job.max_length >= 1, "max_length", job.max_length, "1 or more is needed");
  if (o.max_steps == 0 && o.max_epochs == 0 && o.max_minutes == 0) o.max_epochs = 20;
  if (o.schedule.peak == 0) o.schedule.peak = usual_rate(job.config, o.schedule.warmup);
  o.schedule.last_step = o.max_steps;
  o.check();
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  if (generator != nullptr && generator->copy && o.r_drop > 0) {
    throw UsageError("r_drop: a model that copies has no R-Drop");
  }
  if (o.coverage_loss > 0 && (generator == nullptr || !job.config.attends())) {
    throw UsageError("coverage_loss: there is no decoder with attention to pay it");
  }
  if (job.task == Task::caption) {
    check_captions(job);
  } else {
    check_text(job);
  }
  return job;
}

}  // namespace fovea
