// The frame of every training: folder, log, checkpoints, validation, report. What is learned is the task's.
#include <fmt/format.h>

#include <optional>

#include "base/processes.hpp"
#include "base/whole_file.hpp"
#include "fovea/precision.hpp"
#include "fovea/training_job.hpp"
#include "tasks/captioning/caption_task.hpp"
#include "tasks/training/job/completed_job.hpp"
#include "tasks/training/job/fingerprint.hpp"
#include "tasks/training/job/job_folder.hpp"
#include "tasks/training/progress/kept_checkpoints.hpp"
#include "tasks/training/progress/logging_observer.hpp"
#include "tasks/training/progress/validator.hpp"
#include "tasks/training/text/pair_task.hpp"
#include "train/checkpoint.hpp"

namespace fovea {
namespace {

std::vector<std::string> model_notes(const TrainingJob& job, const Parameters& parameters) {
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  const auto* pictures = std::get_if<PictureSourceConfig>(&job.config.source);
  const auto* captions = std::get_if<CaptionTraining>(&job.task);
  const std::string source = pictures == nullptr
                                 ? std::string()
                                 : fmt::format("{} picture encoder{}, ", enum_text(pictures->picture_encoder),
                                               captions != nullptr && captions->freeze ? ", frozen" : "");
  const std::string head = generator != nullptr ? fmt::format("{} decoder", kind_of(generator->decoder))
                                                : fmt::format("{} pooling", enum_text(job.config.classifier().pooling));
  std::vector<std::string> notes{fmt::format("model: {}{} encoder, {}, {} weights", source, kind_of(job.config.encoder),
                                             head, parameters.count())};
  if (job.options.precision == Precision::bf16) {
    notes.emplace_back(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here");
  }
  return notes;
}

// A training that is ready to run: its folder, task, weights, and what the task has decided.
struct Prepared {
  explicit Prepared(const TrainingJob& given);

  JobFolder folder;
  Parameters parameters;
  std::unique_ptr<TrainingTask> task;
  TrainingJob job;
  Tokenizers tokenizers;
  std::string fingerprint;
  std::int64_t from = 0;  // the step to continue from
  std::vector<std::string> notes;
};

Prepared::Prepared(const TrainingJob& given)
    : folder(given), parameters(given.options.seed), task(make_training_task(given, parameters)) {
  const bool resumes = folder.resumes();
  std::optional<ResumedModel> resumed;
  if (resumes) {
    ModelConfig config = folder.resumed_config(given);
    Tokenizers before = read_tokenizers(given.model, config);
    resumed.emplace(ResumedModel{std::move(config), std::move(before)});
  }
  TaskDecisions decided = task->decide(resumed ? &*resumed : nullptr);
  job = std::move(decided.job);
  tokenizers = std::move(decided.tokenizers);
  notes = std::move(decided.notes);
  const auto add = [this](const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  };
  add(task->build_model(resumes));
  add(model_notes(job, parameters));
  // From here on a model that was there before is gone: all that can be wrong with the options has been said.
  folder.begin(job.config, tokenizers);
  fingerprint = training_fingerprint(job, *task);
  if (resumes && std::filesystem::exists(folder.checkpoint())) {
    from = read_train_state(folder.checkpoint(), fingerprint).step;
  }
  if (from > 0) notes.push_back(fmt::format("continuing from step {}", from));
}

Trainer::Result run(Prepared& p, TrainObserver& observer, TrainingObserver& samples, const StopRequest& stop) {
  const bool first = processes().first();
  const Validator validator(p.job, *p.task, p.parameters, samples);
  KeptCheckpoints kept(p.job.model, first ? p.job.keep_checkpoints : 0, first && !p.folder.resumes(), p.job.config,
                       p.tokenizers, p.parameters);
  const ExampleSet set = p.task->training_set();
  Trainer trainer({.parameters = p.parameters,
                   .make_learner = set.learners,
                   .options = p.job.options,
                   .examples = set.examples,
                   .plan = p.task->plan(),
                   .observer = observer,
                   .checkpoint_file = p.folder.checkpoint(),
                   .fingerprint = p.fingerprint,
                   .validate =
                       [&](std::span<const Tensor> weights, const TrainState& state) {
                         kept.save(state.step, weights);
                         return validator(weights);
                       },
                   .save_best = [&](auto weights) { write_model_weights(p.job.model, p.parameters, weights); },
                   .stop = stop,
                   .resume = p.folder.resumes()});
  const ScopedPrecision products(has_bf16() ? p.job.options.precision : Precision::fp32);
  return trainer.run();
}

}  // namespace

std::unique_ptr<TrainingTask> make_training_task(const TrainingJob& job, Parameters& parameters) {
  if (std::holds_alternative<CaptionTraining>(job.task)) return std::make_unique<CaptionTask>(job, parameters);
  return std::make_unique<PairTask>(job, parameters);
}

Trainer::End train(const TrainingJob& given, TrainingObserver& observer, const StopRequest& stop) {
  Prepared p(completed_job(given));
  if (given.options.adam.rate == 0) p.job.options.adam.rate = usual_rate(p.job.config, p.job.options.schedule.warmup);
  const bool first = processes().first();
  std::optional<TrainLog> log;
  std::optional<LoggingObserver> logging;
  if (first) logging.emplace(observer, log.emplace(p.folder.log(), p.from));
  TrainingObserver quiet;
  TrainingObserver& shown = first ? observer : quiet;
  shown.started(p.notes);
  p.task->begin();
  TrainObserver& seen = first ? static_cast<TrainObserver&>(*logging) : quiet;
  const Trainer::Result result = run(p, seen, shown, stop);
  p.task->finish(result.end);
  if (result.state.step > p.from) p.job.options.schedule.warmup = result.state.warmup;
  if (log && p.folder.has_model()) {
    write_whole_file(p.folder.report(),
                     training_report(p.job, log->entries(), p.task->report_lines(), p.parameters.count()));
  }
  return result.end;
}

Trainer::End train(const TrainingJob& job) {
  TrainingObserver quiet;
  return train(job, quiet);
}

}  // namespace fovea
