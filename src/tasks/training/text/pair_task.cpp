#include "tasks/training/text/pair_task.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/processes.hpp"
#include "base/rng.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "tasks/classification/label_learner.hpp"
#include "tasks/classification/text_rows.hpp"
#include "tasks/classification/vectors.hpp"
#include "tasks/training/job/settings.hpp"
#include "tasks/training/text/pair_outputs.hpp"
#include "tasks/training/text/tokenizers.hpp"

namespace fovea {
namespace {

void set_vocabularies(ModelConfig& config, const Tokenizers& tokenizers) {
  config.shared_vocabulary = tokenizers.source == tokenizers.target;
  config.tokens().vocabulary = tokenizers.source->size();
  if (auto* classifier = std::get_if<ClassifierConfig>(&config.head)) {
    classifier->labels = tokenizers.target->size() - special_ids;
    if (classifier->labels < 2) {
      throw UsageError(fmt::format("every line of the training text has the label {}: there is nothing to learn",
                                   tokenizers.target->piece(special_ids)));
    }
  } else {
    config.generator().vocabulary = tokenizers.target->size();
  }
}

bool classifies(const TrainingJob& job) {
  return std::holds_alternative<ClassifyTraining>(job.task);
}

bool copies(const ModelConfig& config) {
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  return generator != nullptr && generator->copy;
}

void add_pair_notes(const char* what, const text::CorpusReport& r, std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: {} pairs, {} source and {} target tokens", what, r.kept, r.source_tokens, r.target_tokens));
  for (const auto& warning : r.warnings()) notes.push_back("warning: " + warning);
}

// A few short lines of the validation text, for the page to try: spread over it, since neighbours are often alike.
std::string example_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 4;
  constexpr std::size_t longest = 90;  // bytes
  std::string out;
  for (std::size_t part = 0; part < most; ++part) {
    const std::size_t end = lines.size() * (part + 1) / most;
    for (std::size_t i = lines.size() * part / most; i < end; ++i) {
      const std::string& line = lines[i];
      if (line.empty() || line.size() > longest || ("\n" + out).find("\n" + line + "\n") != std::string::npos) continue;
      out += line + "\n";
      break;
    }
  }
  return out;
}

}  // namespace

PairTask::PairTask(const TrainingJob& job, Parameters& parameters) : job_(job), parameters_(parameters) {
  if (job_.streams()) {
    text_.valid = read_validation_text(job_);
    stream_.emplace(job_);
    return;
  }
  text_ = read_training_text(job_, notes_);
  choose_vocabulary(job_, text_.train);
}

TaskDecisions PairTask::decide(const ResumedModel* resumed) {
  std::vector<std::string> notes = notes_;
  if (resumed != nullptr) {
    job_.config = resumed->config;
    tokenizers_ = resumed->tokenizers;
  } else {
    tokenizers_ = make_tokenizers(notes);
  }
  encode(resumed != nullptr, notes);
  return {job_, tokenizers_, std::move(notes)};
}

Tokenizers PairTask::make_tokenizers(std::vector<std::string>& notes) {
  if (stream_) {
    text_.train = stream_->sample(notes);
    choose_vocabulary(job_, text_.train);
  }
  Tokenizers made = fovea::make_tokenizers(job_, text_.train, notes);
  if (stream_) text_.train = {};
  set_vocabularies(job_.config, made);
  made.source = source_reader(job_.config, made.source);
  return made;
}

void PairTask::encode(bool resumes, std::vector<std::string>& notes) {
  text::CorpusReport report, valid_report;
  if (copies(job_.config)) copying_.emplace(*tokenizers_.source, *tokenizers_.target);
  const text::CopyTable* table = copying_ ? &*copying_ : nullptr;
  const text::SourceReader reader = line_reader(job_.config, tokenizers_.source);
  if (stream_) {
    stream_->encode(reader, *tokenizers_.target, table, resumes);
    report = stream_->report();
    summary_ = stream_->summary();
  } else {
    corpus_ = text::Corpus(text_.train, reader, *tokenizers_.target, job_.max_length, &report, table);
    summary_ = text::summarize(corpus_);
  }
  pairs_ = report.kept;
  valid_ = text::Corpus(text_.valid, reader, *tokenizers_.target, job_.max_length, &valid_report, table);
  add_pair_notes("training", report, notes);
  add_pair_notes("validation", valid_report, notes);
  if (classifies(job_) && valid_report.target_unknown > 0) {
    notes.push_back(
        fmt::format("warning: {} of {} validation lines have a label that training does not have; they "
                    "count as wrong",
                    valid_report.target_unknown, valid_report.kept));
  }
  choose_training(job_, summary_);
  if (!resumes) choose_size(job_, summary_);
  if (const std::string chosen = chosen_settings(job_, resumes); !chosen.empty()) notes.push_back(chosen);
  plan_batches(table);
}

void PairTask::plan_batches(const text::CopyTable* table) {
  if (stream_) {
    auto plan = std::make_unique<StreamedPlan>(job_, *stream_);
    training_ = &plan->pairs();
    plan_ = std::move(plan);
  } else {
    auto plan = std::make_unique<EpochPlan>(job_, text_.train, tokenizers_, corpus_, table);
    training_ = &plan->corpus();
    plan_ = std::move(plan);
  }
  examples_.emplace(*training_);
  valid_examples_.emplace(valid_);
}

std::vector<std::string> PairTask::build_model(bool resumes) {
  build_weights(job_.config, parameters_);
  const auto* task = std::get_if<ClassifyTraining>(&job_.task);
  if (task == nullptr || task->vectors.empty() || resumes) return {};
  return {put_vectors(task->vectors, *tokenizers_.source, job_.config, parameters_)};
}

nlohmann::json PairTask::identity() const {
  const auto text = [](std::uint64_t hash) { return fmt::format("{:016x}", hash); };
  nlohmann::json identity = {
      {"pairs", pairs_}, {"text", text(summary_.hash)}, {"validation", text(text::summarize(valid_).hash)}};
  if (stream_) identity["stream-memory"] = std::get<TextTraining>(job_.task).stream_memory;
  return identity;
}

void PairTask::begin() {
  if (processes().first()) write_whole_file(job_.model / "examples.txt", example_lines(text_.valid.source));
}

LearnerFactory PairTask::learners(const text::Pairs& pairs) const {
  return classifies(job_) ? label_learners(job_.config, pairs) : pair_learners(job_.config, pairs);
}

ExampleSet PairTask::training_set() const {
  return {*examples_, pairs_, learners(*training_)};
}

ExampleSet PairTask::validation_set() const {
  return {*valid_examples_, valid_.size(), learners(valid_)};
}

std::vector<ValidationSample> PairTask::outputs(const Parameters& weights, const BatchTotals& totals,
                                                Validation& v) const {
  if (!classifies(job_)) return written_samples(job_, tokenizers_, text_.valid, weights, v);
  return labelled_samples(job_, tokenizers_, text_.valid, weights, totals, valid_.size(), v);
}

std::vector<ReportedLine> PairTask::report_lines() const {
  return reported_lines(job_, text_.valid);
}

}  // namespace fovea
