#include "tasks/training/job/completed_job.hpp"

#include <fmt/format.h>

#include "base/option_values.hpp"
#include "fovea/error.hpp"
#include "tasks/training/job/names.hpp"
#include "tasks/training/job/settings.hpp"
#include "tasks/training/text/training_text.hpp"

namespace fovea {
namespace {

constexpr int kAnyVocabulary = 100;  // of a config that is checked before there are vocabularies

// The task of `job.task` must be that of the config.
void check_task(const TrainingJob& job) {
  const Task task = job.config.task();
  if (task == Task::complete) {
    throw UsageError("task", "a language model is imported, not trained; generate, classify, chat and caption are");
  }
  const bool fits = task == Task::classify  ? std::holds_alternative<ClassifyTraining>(job.task)
                    : task == Task::caption ? std::holds_alternative<CaptionTraining>(job.task)
                                            : std::holds_alternative<TextTraining>(job.task);
  if (!fits)
    throw UsageError("task",
                     fmt::format("the fields of another task are given for a model that is to {}", enum_text(task)));
}

// What has no effect is as it is in a job that sets nothing. The settings that every task has are checked with them.
void check_fields(const TrainingJob& job) {
  TrainingJob usual;
  usual.config = job.config;
  usual.task =
      std::visit([](const auto& task) -> decltype(job.task) { return std::decay_t<decltype(task)>{}; }, job.task);
  check_unused(job, usual);
  check_ranges(job);
  const auto check_part = [](const auto& part) { check_unused(part, std::decay_t<decltype(part)>{}); };
  std::visit(check_part, job.config.source);
  std::visit(check_part, job.config.encoder);
  std::visit(check_part, job.config.head);
  if (const auto* generator = std::get_if<GeneratorConfig>(&job.config.head))
    std::visit(check_part, generator->decoder);
}

void check_positions(std::int64_t positions, const TrainingJob& job) {
  if (positions > 0 && positions <= job.max_length) {
    throw UsageError("max_positions", fmt::format("{} are too few for a max-length of {} and the end of sequence",
                                                  positions, job.max_length));
  }
}

void check_classifier(const TrainingJob& job) {
  if (job.validate == ValidateBy::bleu || job.validate == ValidateBy::rouge) {
    throw UsageError("validate",
                     fmt::format("must be loss or accuracy for a classifier, is {}", enum_text(job.validate)));
  }
  const bool parts = std::holds_alternative<NgramSourceConfig>(job.config.source) ||
                     job.config.classifier().pooling == Pooling::hierarchical;
  if (parts && job.subword_sampling > 0) {
    throw UsageError("subword_sampling", "must be 0 with n-grams and with the pooling hierarchical");
  }
}

void check_captions(const TrainingJob& job) {
  for (const auto& [field, path] : {std::pair("source", &job.source),
                                    {"target", &job.target},
                                    {"valid_source", &job.valid_source},
                                    {"valid_target", &job.valid_target}}) {
    if (path->empty()) throw UsageError(field, "must be given for a training on pictures");
  }
}

// The model with vocabularies of any size.
void check_model(const TrainingJob& job) {
  ModelConfig possible = job.config;
  if (possible.reads_tokens()) possible.tokens().vocabulary = kAnyVocabulary;
  if (auto* classifier = std::get_if<ClassifierConfig>(&possible.head)) {
    classifier->labels = 2;
  } else {
    possible.generator().vocabulary = kAnyVocabulary;
  }
  possible.shared_vocabulary = possible.reads_tokens() && (job.shares_vocab() || !job.tokenizer_model.empty());
  possible.check();
  if (possible.reads_tokens()) check_positions(possible.longest_source(), job);
  check_positions(possible.longest_target(), job);
}

}  // namespace

TrainingJob completed_job(const TrainingJob& given) {
  TrainingJob job = given;
  check_task(job);
  TrainOptions& o = job.options;
  if (o.max_steps == 0 && o.max_epochs == 0 && o.max_minutes == 0) o.max_epochs = 20;
  if (o.adam.rate == 0) o.adam.rate = usual_rate(job.config, o.schedule.warmup);
  check_fields(job);
  o.check();
  if (!reads_pictures(job.config)) o.loss.attention_entropy = 0;
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  if (generator != nullptr && generator->copy && o.loss.r_drop > 0) {
    throw UsageError("r_drop", "must be 0 for a model that copies");
  }
  if (std::holds_alternative<CaptionTraining>(job.task)) {
    check_captions(job);
  } else {
    check_text_fields(job);
    check_automatic(job);
    if (std::holds_alternative<ClassifyTraining>(job.task)) check_classifier(job);
  }
  check_model(job);
  return job;
}

}  // namespace fovea
