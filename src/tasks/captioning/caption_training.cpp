#include "tasks/captioning/caption_training.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/processes.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/model/picture_source.hpp"
#include "fovea/precision.hpp"
#include "model/config_json.hpp"
#include "tasks/captioning/caption_learner.hpp"
#include "tasks/captioning/caption_set.hpp"
#include "tasks/captioning/caption_validator.hpp"
#include "tasks/captioning/feature_cache.hpp"
#include "tasks/training/job_folder.hpp"
#include "tasks/training/logging_observer.hpp"
#include "tasks/training/names.hpp"
#include "tasks/training/report.hpp"
#include "train/checkpoint.hpp"

namespace fovea {
namespace {

// What was left open filled in, and what cannot be refused before any file is read.
TrainingJob completed_captions(const TrainingJob& given) {
  TrainingJob job = given;
  TrainOptions& o = job.options;
  if (o.max_steps == 0 && o.max_epochs == 0 && o.max_minutes == 0) o.max_epochs = 20;
  if (o.schedule.peak == 0) o.schedule.peak = usual_rate(job.config, o.schedule.warmup);
  o.schedule.last_step = o.max_steps;
  o.check();
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
  possible.generator().vocabulary = 100;
  possible.check();
  const std::int64_t positions = possible.longest_target();
  if (positions > 0 && positions <= job.max_length) {
    throw UsageError(fmt::format("max_positions: {} are too few for a `max_length` of {} and the end of sequence",
                                 positions, job.max_length));
  }
  return job;
}

Tokenizers caption_tokenizer(const TrainingJob& job, const text::ParallelText& text, std::vector<std::string>& notes) {
  if (!job.tokenizer_model.empty()) return {nullptr, load_sentencepiece(job.tokenizer_model)};
  const auto trained = train_tokenizer(
      text.target, {.kind = job.tokenizer,
                    .vocab = job.vocabulary,
                    .min_count = job.min_count,
                    .subwords = job.bpe ? TokenizerOptions::Subwords::bpe : TokenizerOptions::Subwords::unigram});
  notes.push_back(fmt::format("vocabulary: {} tokens, {} words left out ({:.2f}% of the text)", trained.report.size,
                              trained.report.left_out, 100 * trained.report.unknown_share));
  return {nullptr, trained.tokenizer};
}

void add_notes(const char* what, const CaptionSet& set, std::vector<std::string>& notes) {
  bool first = true;
  for (const std::string& note : set.notes()) {
    notes.push_back(first ? fmt::format("{}: {}", what, note) : note);
    first = false;
  }
}

std::string caption_fingerprint(const TrainingJob& job, const CaptionSet& captions, const CaptionSet& valid) {
  return nlohmann::json({{"model", to_json(job.config)},
                         {"seed", job.options.seed},
                         {"captions", captions.captions()},
                         {"text", fmt::format("{:016x}", captions.hash())},
                         {"validate", enum_text(job.validate_by)},
                         {"validation", fmt::format("{:016x}", valid.hash())},
                         {"freeze", job.freeze},
                         {"doubly-stochastic", job.doubly_stochastic},
                         {"attention-entropy", job.attention_entropy},
                         {"average", job.options.average},
                         {"ema", job.options.adam.ema}})
      .dump();
}

}  // namespace

Trainer::End train_captions(const TrainingJob& given, TrainingObserver& observer) {
  TrainingJob job = completed_captions(given);
  const JobFolder folder(job);
  const text::ParallelText text = text::read_parallel(job.source, job.target);
  const text::ParallelText valid_text = text::read_parallel(job.valid_source, job.valid_target);
  Parameters parameters(job.options.seed);
  if (!job.picture_weights.empty()) put_picture_weights(job.picture_weights, job.config.pictures(), parameters);

  std::vector<std::string> notes;
  Tokenizers tokenizers;
  if (folder.resumes()) {
    job.config = folder.resumed_config(job);
    tokenizers = read_tokenizers(job.model, job.config);
  } else {
    tokenizers = caption_tokenizer(job, text, notes);
    job.config.generator().vocabulary = tokenizers.target->size();
  }
  const std::int64_t side = job.config.pictures().picture_size;
  const PictureStore pictures(CaptionSet::places(text), side);
  const PictureStore valid_pictures(CaptionSet::places(valid_text), side);
  const CaptionSet captions(text, pictures, *tokenizers.target, job.max_length);
  const CaptionSet valid(valid_text, valid_pictures, *tokenizers.target, job.max_length);
  add_notes("training", captions, notes);
  add_notes("validation", valid, notes);

  build_weights(job.config, parameters);
  if (job.freeze) parameters.freeze(kPictureWeights);
  notes.push_back(fmt::format("model: {} picture encoder{}, {} encoder, {} decoder, {} weights",
                              enum_text(job.config.pictures().picture_encoder), job.freeze ? ", frozen" : "",
                              kind_of(job.config.encoder), kind_of(job.config.generator().decoder),
                              parameters.count()));
  // From here on a model that was there before is gone: all that can be wrong with the options has been said.
  folder.begin(job.config, tokenizers);
  const std::string fingerprint = caption_fingerprint(job, captions, valid);
  const bool goes_on = folder.resumes() && std::filesystem::exists(folder.checkpoint());
  const std::int64_t from = goes_on ? read_train_state(folder.checkpoint(), fingerprint).step : 0;
  if (from > 0) notes.push_back(fmt::format("going on from step {}", from));
  std::optional<TrainLog> log;
  if (processes().first()) log.emplace(folder.log(), from);
  TrainingObserver quiet;
  TrainingObserver& shown = processes().first() ? observer : quiet;
  shown.started(notes);

  const std::filesystem::path cached[] = {job.model / "features.cache", job.model / "valid-features.cache"};
  std::optional<FeatureCache> features, valid_features;
  if (job.freeze) {
    features.emplace(job.config, parameters, pictures, cached[0]);
    valid_features.emplace(job.config, parameters, valid_pictures, cached[1]);
  }
  const CaptionData data{
      job.config, pictures, captions, features ? &*features : nullptr, job.doubly_stochastic, job.attention_entropy};
  const CaptionData valid_data{job.config, valid_pictures, valid, valid_features ? &*valid_features : nullptr, 0, 0};
  const CaptionValidator validator(job, tokenizers, valid_text, valid_data, parameters, shown);
  LoggingObserver logging(observer, log ? &*log : nullptr);
  const LearnerFactory learners = caption_learners(data);
  CaptionPlan plan(captions, job.options.batch_tokens, job.options.seed);
  Trainer trainer{parameters, learners, job.options, captions, plan, logging, folder.checkpoint(), fingerprint, {}, {}};
  trainer.validate = [&](std::span<const Tensor> weights) { return validator(weights); };
  trainer.save_best = [&](std::span<const Tensor> weights) { write_model_weights(job.model, parameters, weights); };
  const Trainer::End end = [&] {
    const ScopedPrecision products(has_bf16() ? job.options.precision : Precision::fp32);
    return trainer.run(folder.resumes());
  }();
  // What only helps to go on sooner has no place in a finished model.
  for (const auto& file : cached) {
    std::error_code ignored;
    if (log && end != Trainer::End::interrupted) std::filesystem::remove(file, ignored);
  }
  if (log && folder.has_model()) {
    write_whole_file(folder.report(),
                     training_report(job, log->entries(), validator.report_lines(job.model), parameters.count()));
  }
  return end;
}

}  // namespace fovea
