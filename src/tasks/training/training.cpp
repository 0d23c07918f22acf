// The frame of every training: folder, log, checkpoints, validation, report. What is learned is the task's.
#include <fmt/format.h>

#include <optional>

#include "base/processes.hpp"
#include "base/whole_file.hpp"
#include "fovea/precision.hpp"
#include "fovea/training_job.hpp"
#include "tasks/captioning/caption_task.hpp"
#include "tasks/training/completed_job.hpp"
#include "tasks/training/fingerprint.hpp"
#include "tasks/training/job_folder.hpp"
#include "tasks/training/kept_checkpoints.hpp"
#include "tasks/training/logging_observer.hpp"
#include "tasks/training/pair_task.hpp"
#include "tasks/training/validator.hpp"
#include "train/checkpoint.hpp"

namespace fovea {
namespace {

void add_model_notes(const TrainingJob& job, const Parameters& parameters, std::vector<std::string>& notes) {
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  const auto* pictures = std::get_if<PictureSourceConfig>(&job.config.source);
  const std::string source =
      pictures == nullptr
          ? std::string()
          : fmt::format("{} picture encoder{}, ", enum_text(pictures->picture_encoder), job.freeze ? ", frozen" : "");
  const std::string head = generator != nullptr ? fmt::format("{} decoder", kind_of(generator->decoder))
                                                : fmt::format("{} pooling", enum_text(job.config.classifier().pooling));
  notes.push_back(fmt::format("model: {}{} encoder, {}, {} weights", source, kind_of(job.config.encoder), head,
                              parameters.count()));
  if (job.options.precision == Precision::bf16) {
    notes.push_back(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here");
  }
}

}  // namespace

std::unique_ptr<TrainingTask> make_training_task(TrainingJob& job, Parameters& parameters,
                                                 std::vector<std::string>& notes) {
  if (job.task == Task::caption) return std::make_unique<CaptionTask>(job, parameters);
  return std::make_unique<PairTask>(job, parameters, notes);
}

Trainer::End train(const TrainingJob& given, TrainingObserver& observer) {
  if (given.task == Task::complete) {
    throw UsageError("task: a language model is imported, not trained; generate, classify, chat and caption are");
  }
  TrainingJob job = completed_job(given);
  const JobFolder folder(job);
  const bool resumes = folder.resumes();
  const bool first = processes().first();
  std::vector<std::string> notes;
  Parameters parameters(job.options.seed);
  const std::unique_ptr<TrainingTask> task = make_training_task(job, parameters, notes);
  Tokenizers tokenizers;
  if (resumes) {
    job.config = folder.resumed_config(job);
    tokenizers = read_tokenizers(job.model, job.config);
  } else {
    tokenizers = task->make_tokenizers(notes);
  }
  task->encode(tokenizers, resumes, notes);
  if (given.options.schedule.peak == 0) {
    job.options.schedule.peak = usual_rate(job.config, job.options.schedule.warmup);
  }
  task->build_model(resumes, notes);
  add_model_notes(job, parameters, notes);
  // From here on a model that was there before is gone: all that can be wrong with the options has been said.
  folder.begin(job.config, tokenizers);
  const std::string fingerprint = training_fingerprint(job, *task);
  const bool goes_on = resumes && std::filesystem::exists(folder.checkpoint());
  const std::int64_t from = goes_on ? read_train_state(folder.checkpoint(), fingerprint).step : 0;
  if (from > 0) notes.push_back(fmt::format("going on from step {}", from));
  std::optional<TrainLog> log;
  if (first) log.emplace(folder.log(), from);
  TrainingObserver quiet;
  TrainingObserver& shown = first ? observer : quiet;
  shown.started(notes);
  task->begin();

  const Validator validator(job, *task, parameters, shown);
  LoggingObserver logging(observer, log ? &*log : nullptr);
  const ExampleSet set = task->training_set();
  Trainer trainer{parameters, set.learners,        job.options, set.examples, task->plan(),
                  logging,    folder.checkpoint(), fingerprint, {},           {}};
  KeptCheckpoints kept(job.model, first ? job.keep_checkpoints : 0, first && !resumes, job.config, tokenizers,
                       parameters);
  trainer.validate = [&](std::span<const Tensor> weights) {
    kept.save(logging.step(), weights);
    return validator(weights);
  };
  trainer.save_best = [&](std::span<const Tensor> weights) { write_model_weights(job.model, parameters, weights); };
  const Trainer::End end = [&] {
    const ScopedPrecision products(has_bf16() ? job.options.precision : Precision::fp32);
    return trainer.run(resumes);
  }();
  task->finish(end);
  job.options.schedule.warmup = logging.warmup().value_or(job.options.schedule.warmup);
  if (log && folder.has_model()) {
    write_whole_file(folder.report(), training_report(job, log->entries(), task->report_lines(), parameters.count()));
  }
  return end;
}

Trainer::End train(const TrainingJob& job) {
  TrainingObserver quiet;
  return train(job, quiet);
}

}  // namespace fovea
