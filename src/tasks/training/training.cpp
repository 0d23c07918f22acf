#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/processes.hpp"
#include "base/require.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/precision.hpp"
#include "fovea/training_job.hpp"
#include "tasks/captioning/caption_training.hpp"
#include "tasks/classification/label_learner.hpp"
#include "tasks/classification/text_rows.hpp"
#include "tasks/classification/vectors.hpp"
#include "tasks/pair_learner.hpp"
#include "tasks/training/epoch_plan.hpp"
#include "tasks/training/fingerprint.hpp"
#include "tasks/training/job_folder.hpp"
#include "tasks/training/kept_checkpoints.hpp"
#include "tasks/training/logging_observer.hpp"
#include "tasks/training/report.hpp"
#include "tasks/training/settings.hpp"
#include "tasks/training/tokenizers.hpp"
#include "tasks/training/training_text.hpp"
#include "tasks/training/validator.hpp"
#include "text/copy_table.hpp"
#include "text/corpus.hpp"
#include "train/checkpoint.hpp"

namespace fovea {
namespace {

// What was left open filled in, and what cannot be refused before any file is read.
TrainingJob completed(const TrainingJob& given) {
  TrainingJob job = given;
  TrainOptions& o = job.options;
  require(job.max_length >= 1, "max_length", job.max_length, "1 or more is needed");
  if (o.max_steps == 0 && o.max_epochs == 0 && o.max_minutes == 0) o.max_epochs = 20;
  if (o.schedule.peak == 0) o.schedule.peak = usual_rate(job.config, o.schedule.warmup);
  o.schedule.last_step = o.max_steps;
  o.check();
  check_text_fields(job);
  check_automatic(job);
  ModelConfig possible = job.config;
  possible.tokens().vocabulary = 100;
  if (job.task == Task::classify) {
    possible.classifier().labels = 2;
    if (job.shared_vocabulary) throw UsageError("shared_vocab: a classifier's labels are no text to share one with");
    if (job.validate_by == ValidateBy::bleu || job.validate_by == ValidateBy::rouge)
      throw UsageError("validate: a classifier is validated by loss or accuracy");
    const bool parts = std::holds_alternative<NgramSourceConfig>(possible.source) ||
                       possible.classifier().pooling == Pooling::hierarchical;
    if (parts && job.subword_sampling > 0) {
      throw UsageError("subword_sampling: neither n-grams nor sentences are sampled");
    }
  } else {
    possible.generator().vocabulary = 100;
    if (!job.vectors.empty()) throw UsageError("vectors: they go with a classifier");
  }
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  if (generator != nullptr && generator->copy && o.r_drop > 0) {
    throw UsageError("r_drop: a model that copies has no R-Drop");
  }
  if (o.coverage_loss > 0 && (generator == nullptr || !job.config.attends())) {
    throw UsageError("coverage_loss: there is no decoder with attention to pay it");
  }
  if (!(job.hops_penalty >= 0)) throw UsageError("hops_penalty: 0 or more is needed");
  possible.shared_vocabulary = job.shared_vocabulary || !job.tokenizer_model.empty();
  possible.check();
  for (const std::int64_t positions : {possible.longest_source(), possible.longest_target()}) {
    if (positions > 0 && positions <= job.max_length) {
      throw UsageError(fmt::format("max_positions: {} are too few for a `max_length` of {} and the end of sequence",
                                   positions, job.max_length));
    }
  }
  return job;
}

void set_vocabularies(ModelConfig& config, const Tokenizers& tokenizers) {
  config.shared_vocabulary = tokenizers.source == tokenizers.target;
  config.tokens().vocabulary = tokenizers.source->size();
  if (auto* classifier = std::get_if<ClassifierConfig>(&config.head)) {
    classifier->labels = tokenizers.target->size() - special_ids;
    if (classifier->labels < 2) throw UsageError("target: there is only one label, so there is nothing to learn");
  } else {
    config.generator().vocabulary = tokenizers.target->size();
  }
}

bool copies(const ModelConfig& config) {
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  return generator != nullptr && generator->copy;
}

void add_notes(const char* what, const text::CorpusReport& r, std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: {} pairs, {} source and {} target tokens", what, r.kept, r.source_tokens, r.target_tokens));
  for (const auto& warning : r.warnings()) notes.push_back("warning: " + warning);
}

void add_notes(const TrainingJob& job, const Parameters& parameters, std::vector<std::string>& notes) {
  const auto* generator = std::get_if<GeneratorConfig>(&job.config.head);
  const std::string head = generator != nullptr ? fmt::format("{} decoder", kind_of(generator->decoder))
                                                : fmt::format("{} pooling", enum_text(job.config.classifier().pooling));
  notes.push_back(
      fmt::format("model: {} encoder, {}, {} weights", kind_of(job.config.encoder), head, parameters.count()));
  if (job.options.precision == Precision::bf16) {
    notes.push_back(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here");
  }
}

// A few short lines of the validation text, for the page to try.
std::string example_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 4;
  constexpr std::size_t longest = 90;  // bytes
  std::string out;
  std::size_t count = 0;
  for (const std::string& line : lines) {
    if (line.empty() || line.size() > longest || out.find(line + "\n") != std::string::npos) continue;
    out += line + "\n";
    if (++count == most) break;
  }
  return out;
}

}  // namespace

LearnerFactory job_learners(const TrainingJob& job, const text::Pairs& pairs) {
  return job.task == Task::classify ? label_learners(job.config, pairs, job.hops_penalty)
                                    : pair_learners(job.config, pairs);
}

Trainer::End train(const TrainingJob& given, TrainingObserver& observer) {
  if (given.task == Task::caption) return train_captions(given, observer);
  TrainingJob job = completed(given);
  const JobFolder folder(job);
  std::vector<std::string> notes;
  const TrainingText texts = read_training_text(job, notes);
  const text::ParallelText& text = texts.train;
  const text::ParallelText& valid_text = texts.valid;

  choose_vocabulary(job, text);
  Tokenizers tokenizers;
  if (folder.resumes()) {
    job.config = folder.resumed_config(job);
    tokenizers = read_tokenizers(job.model, job.config);
  } else {
    tokenizers = make_tokenizers(job, text, notes);
    set_vocabularies(job.config, tokenizers);
    tokenizers.source = source_reader(job.config, tokenizers.source);
  }
  text::CorpusReport report, valid_report;
  std::optional<text::CopyTable> copying;
  if (copies(job.config)) copying.emplace(*tokenizers.source, *tokenizers.target);
  const text::CopyTable* table = copying ? &*copying : nullptr;
  const text::SourceReader reader = line_reader(job.config, tokenizers.source);
  const text::Corpus corpus(text, reader, *tokenizers.target, job.max_length, &report, table);
  const text::Corpus valid(valid_text, reader, *tokenizers.target, job.max_length, &valid_report, table);
  add_notes("training", report, notes);
  add_notes("validation", valid_report, notes);
  if (job.task == Task::classify && valid_report.target_unknown > 0) {
    notes.push_back(
        fmt::format("warning: {} of {} validation lines have a label that training does not have; they "
                    "count as wrong",
                    valid_report.target_unknown, valid_report.kept));
  }
  choose_training(job, corpus);
  if (!folder.resumes()) choose_size(job, corpus);
  if (given.options.schedule.peak == 0) {
    job.options.schedule.peak = usual_rate(job.config, job.options.schedule.warmup);
  }
  if (const std::string chosen = chosen_settings(job, folder.resumes()); !chosen.empty()) notes.push_back(chosen);

  Parameters parameters(job.options.seed);
  build_weights(job.config, parameters);
  if (!job.vectors.empty() && !folder.resumes()) {
    notes.push_back(put_vectors(job.vectors, *tokenizers.source, job.config, parameters));
  }
  add_notes(job, parameters, notes);
  EpochPlan plan(job, text, tokenizers, corpus, table);
  // From here on a model that was there before is gone: all that can be wrong with the options has been said.
  folder.begin(job.config, tokenizers);
  if (processes().first()) write_whole_file(job.model / "examples.txt", example_lines(valid_text.source));
  const std::string fingerprint = training_fingerprint(job, corpus, valid);
  const bool goes_on = folder.resumes() && std::filesystem::exists(folder.checkpoint());
  const std::int64_t from = goes_on ? read_train_state(folder.checkpoint(), fingerprint).step : 0;
  if (from > 0) notes.push_back(fmt::format("going on from step {}", from));
  std::optional<TrainLog> log;
  if (processes().first()) log.emplace(folder.log(), from);
  TrainingObserver quiet;
  TrainingObserver& shown = processes().first() ? observer : quiet;
  shown.started(notes);

  const Validator validator(job, tokenizers, valid_text, valid, parameters, shown);
  LoggingObserver logging(observer, log ? &*log : nullptr);
  const LearnerFactory learners = job_learners(job, plan.corpus());
  const PairExamples examples(plan.corpus());
  Trainer trainer{parameters, learners, job.options, examples, plan, logging, folder.checkpoint(), fingerprint, {}, {}};
  const int keeps = processes().first() ? job.keep_checkpoints : 0;
  KeptCheckpoints kept(job.model, keeps, processes().first() && !folder.resumes(), job.config, tokenizers, parameters);
  trainer.validate = [&](std::span<const Tensor> weights) {
    kept.save(logging.step(), weights);
    return validator(weights);
  };
  trainer.save_best = [&](std::span<const Tensor> weights) { write_model_weights(job.model, parameters, weights); };
  const Trainer::End end = [&] {
    const ScopedPrecision products(has_bf16() ? job.options.precision : Precision::fp32);
    return trainer.run(folder.resumes());
  }();
  job.options.schedule.warmup = logging.warmup().value_or(job.options.schedule.warmup);
  if (log && folder.has_model()) {
    write_whole_file(folder.report(),
                     training_report(job, log->entries(), validator.report_lines(job.model), parameters.count()));
  }
  return end;
}

Trainer::End train(const TrainingJob& job) {
  TrainingObserver quiet;
  return train(job, quiet);
}

}  // namespace fovea
