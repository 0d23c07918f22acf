#include "tasks/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/rng.hpp"
#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "fovea/precision.hpp"
#include "fovea/threads.hpp"
#include "model/folder.hpp"
#include "tasks/train_log.hpp"
#include "tasks/train_report.hpp"
#include "tasks/translator.hpp"
#include "text/batches.hpp"
#include "text/corpus.hpp"
#include "train/workers.hpp"

namespace fovea {
namespace {

class CorpusPairs final : public Pairs {
 public:
  explicit CorpusPairs(const text::Corpus& corpus) : corpus_(corpus) {}
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override { return corpus_.source(i); }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override { return corpus_.target(i); }

 private:
  const text::Corpus& corpus_;
};

// With sampled subwords every epoch has its own corpus and so its own batches.
class CorpusPlan final : public BatchPlan {
 public:
  CorpusPlan(const TrainingJob& job, const text::ParallelText& text, const Tokenizers& tokenizers,
             const text::Corpus& corpus)
      : job_(job), text_(text), tokenizers_(tokenizers), plain_(corpus) {
    start(0);
  }
  std::int64_t batches(std::int64_t epoch) override {
    if (epoch != epoch_) start(epoch);
    return batches_->count();
  }
  void batch(std::int64_t epoch, std::int64_t index, std::vector<std::int64_t>& pairs) override {
    (void)batches(epoch);
    const auto numbers = batches_->pairs(index);
    pairs.assign(numbers.begin(), numbers.end());
  }
  // What the numbers of a batch stand for.
  [[nodiscard]] const text::Corpus& corpus() const { return job_.subword_sampling > 0 ? sampled_ : plain_; }

 private:
  void start(std::int64_t epoch) {
    const TrainOptions& o = job_.options;
    if (job_.subword_sampling > 0) {
      const std::int64_t longest = std::min<std::int64_t>(job_.max_length, o.batch_tokens - 1);
      sampled_ = plain_.sampled(text_, *tokenizers_.source, *tokenizers_.target, longest, job_.subword_sampling,
                                o.seed ^ mix64(static_cast<std::uint64_t>(epoch) + 1));
      batches_.reset();
    }
    if (!batches_) batches_.emplace(corpus(), text::BatchOptions{.batch_tokens = o.batch_tokens, .seed = o.seed});
    batches_->start_epoch(epoch_ = epoch);
  }

  const TrainingJob& job_;
  const text::ParallelText& text_;
  const Tokenizers& tokenizers_;
  const text::Corpus& plain_;
  text::Corpus sampled_;
  std::optional<text::Batches> batches_;
  std::int64_t epoch_ = 0;
};

Tokenizers make_tokenizers(const TrainingJob& job, const text::ParallelText& text, std::vector<std::string>& notes) {
  Tokenizers t;
  if (!job.tokenizer_model.empty()) {
    t.source = t.target = load_sentencepiece(job.tokenizer_model);
    return t;
  }
  const TokenizerOptions options{
      .kind = job.tokenizer,
      .vocab = job.vocabulary,
      .min_count = job.min_count,
      .subwords = job.bpe ? TokenizerOptions::Subwords::bpe : TokenizerOptions::Subwords::unigram};
  const auto note = [&notes](const char* side, const TokenizerReport& r) {
    std::string line = fmt::format("{} vocabulary: {} tokens", side, r.size);
    if (r.left_out > 0) line += fmt::format(", {} left out ({:.2f}% of the text)", r.left_out, 100 * r.unknown_share);
    notes.push_back(line);
  };
  if (job.shared_vocabulary) {
    const auto trained = train_shared_tokenizer(text.source, text.target, options);
    t.source = t.target = trained.tokenizer;
    note("shared", trained.report);
  } else {
    const auto source = train_tokenizer(text.source, options);
    const auto target = train_tokenizer(text.target, options);
    t = {source.tokenizer, target.tokenizer};
    note("source", source.report);
    note("target", target.report);
  }
  return t;
}

// Judges weights by the validation text.
class Judge {
 public:
  Judge(const TrainingJob& job, const ModelConfig& config, const Tokenizers& tokenizers, const text::ParallelText& text,
        const text::Corpus& corpus, const Parameters& parameters, TrainingObserver& observer)
      : job_(job),
        config_(config),
        tokenizers_(tokenizers),
        text_(text),
        pairs_(corpus),
        parameters_(parameters),
        observer_(observer) {
    for (std::int64_t i = 0; i < corpus.size(); ++i) all_.push_back(i);
  }

  Validation operator()(std::span<const Tensor> weights) {
    const ScopedPrecision products(Precision::fp32);  // as the model will be used
    Parameters judged = with(weights);
    Workers workers(config_, judged, job_.options.replica_count());
    std::vector<std::int64_t> batch = all_;
    const BatchTotals totals = workers.measure(pairs_, batch, job_.options.micro_tokens);
    Validation v;
    v.loss = totals.nll / static_cast<double>(std::max<std::int64_t>(1, totals.target_tokens));
    v.score = -v.loss;
    extra = {{"valid_loss", v.loss}};
    v.text = fmt::format("loss {:.4f}  ppl {:.2f}", v.loss, std::exp(v.loss));
    const bool whole = job_.validate_by != ValidateBy::loss;
    const std::size_t count = whole ? text_.source.size() : std::min<std::size_t>(3, text_.source.size());
    const Translator translator(config_, tokenizers_, judged);
    const std::vector<std::string> lines(text_.source.begin(),
                                         text_.source.begin() + static_cast<std::ptrdiff_t>(count));
    TranslateOptions how;
    how.search.beam = 1;
    how.skip_long = true;
    const auto results = translator.translate(lines, how);
    std::vector<ValidationSample> samples;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, count); ++i) {
      samples.push_back({text_.source[i], text_.target[i], results[i][0].text});
    }
    if (whole) {
      std::vector<std::string> outputs;
      std::int64_t exact = 0;
      for (std::size_t i = 0; i < count; ++i) {
        outputs.push_back(results[i][0].text);
        exact += outputs.back() == text_.target[i] ? 1 : 0;
      }
      const double accuracy = 100.0 * static_cast<double>(exact) / static_cast<double>(count);
      const double score = bleu(outputs, {text_.target}).score;
      extra["bleu"] = score;
      extra["accuracy"] = accuracy;
      v.score = job_.validate_by == ValidateBy::bleu ? score : accuracy;
      v.text += fmt::format("  bleu {:.2f}  exact {:.2f}%", score, accuracy);
    }
    observer_.samples(samples);
    return v;
  }

  // What the best weights make of a few lines, with attention.
  std::vector<ReportedLine> report_lines(const std::filesystem::path& folder) const {
    const Translator translator(folder);
    std::vector<ReportedLine> lines;
    TranslateOptions how;
    how.search.want_attention = true;
    how.skip_long = true;
    const std::size_t count = std::min<std::size_t>(6, text_.source.size());
    const std::vector<std::string> sources(text_.source.begin(),
                                           text_.source.begin() + static_cast<std::ptrdiff_t>(count));
    const auto results = translator.translate(sources, how);
    for (std::size_t i = 0; i < count; ++i) lines.push_back({sources[i], text_.target[i], results[i][0]});
    return lines;
  }

  nlohmann::json extra;

 private:
  [[nodiscard]] Parameters with(std::span<const Tensor> weights) const {
    Parameters p(0);
    for (std::size_t i = 0; i < weights.size(); ++i) p.put(parameters_.entries()[i].name, weights[i]);
    p.seal();
    return p;
  }

  const TrainingJob& job_;
  const ModelConfig& config_;
  const Tokenizers& tokenizers_;
  const text::ParallelText& text_;
  CorpusPairs pairs_;
  const Parameters& parameters_;
  TrainingObserver& observer_;
  std::vector<std::int64_t> all_;
};

// Writes the log and passes everything on.
class Logger final : public TrainObserver {
 public:
  Logger(TrainingObserver& next, TrainLog& log) : next_(next), log_(log) {}
  void reported(const TrainReport& r) override {
    log_.add({{"step", r.state.step},
              {"epoch", r.state.epoch},
              {"loss", r.loss},
              {"perplexity", r.perplexity},
              {"token_accuracy", r.accuracy},
              {"rate", r.rate},
              {"gradient_norm", r.gradient_norm},
              {"tokens_per_second", r.tokens_per_second},
              {"tokens", r.state.tokens},
              {"seconds", r.state.seconds}});
    next_.reported(r);
  }
  void validated(const TrainState& state, const Validation& v, bool best) override {
    nlohmann::json entry = extra != nullptr ? *extra : nlohmann::json::object();
    entry["step"] = state.step;
    entry["epoch"] = state.epoch;
    entry["seconds"] = state.seconds;
    entry["score"] = v.score;
    entry["best"] = best;
    log_.add(entry);
    next_.validated(state, v, best);
  }
  bool wants_stop() override { return next_.wants_stop(); }
  void stepped(const TrainState& state, double progress) override { next_.stepped(state, progress); }
  const nlohmann::json* extra = nullptr;

 private:
  TrainingObserver& next_;
  TrainLog& log_;
};

void add_corpus_notes(const char* what, const text::CorpusReport& r, std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: {} pairs, {} source and {} target tokens", what, r.kept, r.source_tokens, r.target_tokens));
  for (const auto& warning : r.warnings()) notes.push_back("warning: " + warning);
}

// Of all tokens of all pairs in their order.
std::string hash_of(const Pairs& pairs, std::int64_t count) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::span<const std::int32_t> ids) {
    hash = mix64(hash ^ ids.size());
    for (const std::int32_t id : ids) hash = mix64(hash ^ static_cast<std::uint64_t>(id));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    add(pairs.source(i));
    add(pairs.target(i));
  }
  return fmt::format("{:016x}", hash);
}

std::string to_text(ValidateBy by) {
  return by == ValidateBy::loss ? "loss" : by == ValidateBy::bleu ? "bleu" : "accuracy";
}

// Of two configurations, as "dim 16, not 32"; empty when they are the same.
std::string first_difference(const nlohmann::json& before, const nlohmann::json& now) {
  for (const auto& [name, value] : now.items()) {
    if (before.at(name) != value) return fmt::format("{} {}, not {}", name, before.at(name).dump(), value.dump());
  }
  return {};
}

}  // namespace

Trainer::End train(const TrainingJob& job, TrainingObserver& observer) {
  TrainOptions options = job.options;
  if (options.max_steps == 0 && options.max_epochs == 0 && options.max_minutes == 0) options.max_epochs = 20;
  options.check();
  {
    ModelConfig possible = job.config;  // what the configuration cannot be is said before any file is read
    possible.source_vocabulary = possible.target_vocabulary = 100;
    possible.shared_vocabulary = job.shared_vocabulary || !job.tokenizer_model.empty();
    possible.check();
    for (const std::int64_t positions : {possible.longest_source(), possible.longest_target()}) {
      if (positions > 0 && positions <= job.max_length) {
        throw UsageError(
            fmt::format("--max-positions: {} are too few for --max-length {} and the end", positions, job.max_length));
      }
    }
  }
  const std::filesystem::path checkpoint = job.model / "checkpoint.safetensors";
  if (job.resume && job.overwrite) throw UsageError("--overwrite: it starts anew, --resume goes on; give one of them");
  const bool described = std::filesystem::exists(job.model / "config.json");
  const bool holds =
      described || std::filesystem::exists(checkpoint) || std::filesystem::exists(job.model / "model.safetensors");
  if (job.resume && holds && !described) {
    throw UsageError(fmt::format("--resume: {} has lost its config.json; --overwrite starts anew", job.model.string()));
  }
  const bool resume = job.resume && described;
  if (resume && !std::filesystem::exists(checkpoint) && std::filesystem::exists(job.model / "model.safetensors")) {
    throw UsageError(fmt::format("--resume: {} holds a model but no checkpoint to go on from; --overwrite starts anew",
                                 job.model.string()));
  }
  if (!job.resume && !job.overwrite && holds) {
    throw UsageError(fmt::format("--model: {} holds a model; --resume goes on with it, --overwrite starts anew",
                                 job.model.string()));
  }
  std::vector<std::string> notes;
  const text::ParallelText text = text::read_parallel(job.source, job.target);
  const text::ParallelText valid_text = text::read_parallel(job.valid_source, job.valid_target);

  TrainingJob done = job;
  ModelConfig& config = done.config;
  Tokenizers tokenizers;
  if (resume) {
    config.shared_vocabulary = read_model_config(job.model).shared_vocabulary;
    config.source_vocabulary = read_model_config(job.model).source_vocabulary;
    config.target_vocabulary = read_model_config(job.model).target_vocabulary;
    const std::string other = first_difference(to_json(read_model_config(job.model)), to_json(config));
    if (!other.empty()) {
      throw UsageError(fmt::format("--resume: {} has {}; the same model options as before are needed, or --overwrite",
                                   (job.model / "config.json").string(), other));
    }
    tokenizers = read_tokenizers(job.model, config);
  } else {
    tokenizers = make_tokenizers(job, text, notes);
    config.shared_vocabulary = tokenizers.source == tokenizers.target;
    config.source_vocabulary = tokenizers.source->size();
    config.target_vocabulary = tokenizers.target->size();
  }
  text::CorpusReport report;
  text::CorpusReport valid_report;
  const text::Corpus corpus(text, *tokenizers.source, *tokenizers.target, job.max_length, &report);
  const text::Corpus valid(valid_text, *tokenizers.source, *tokenizers.target, job.max_length, &valid_report);
  add_corpus_notes("training", report, notes);
  add_corpus_notes("validation", valid_report, notes);

  Parameters parameters(options.seed);
  { const Seq2Seq made(config, parameters); }
  notes.push_back(fmt::format("model: {} encoder, {} decoder, {} weights", enum_text(config.encoder),
                              enum_text(config.decoder), parameters.count()));
  if (options.precision == Precision::bf16) {
    notes.push_back(has_bf16() ? "products: bf16" : "products: fp32; there are no tiles for bf16 here");
  }
  CorpusPlan plan(done, text, tokenizers, corpus);
  const CorpusPairs pairs(plan.corpus());
  // From here on a model that was there before is gone: all that can be wrong with the options has been said.
  if (!resume) {
    std::error_code ignored;
    std::filesystem::remove(checkpoint, ignored);
    std::filesystem::remove(job.model / "model.safetensors", ignored);
    write_model_config(job.model, config, tokenizers);
  }
  remove_leftovers(job.model);
  nlohmann::json fingerprint = to_json(config);
  fingerprint["seed"] = options.seed;
  fingerprint["pairs"] = corpus.size();
  fingerprint["tokens"] = report.source_tokens + report.target_tokens;
  fingerprint["text"] = hash_of(CorpusPairs(corpus), corpus.size());
  fingerprint["validate"] = to_text(job.validate_by);
  fingerprint["validation"] = hash_of(CorpusPairs(valid), valid.size());
  fingerprint["average"] = options.average;
  fingerprint["ema"] = options.ema;
  if (job.subword_sampling > 0) fingerprint["subword-sampling"] = job.subword_sampling;
  const std::int64_t from =
      resume && std::filesystem::exists(checkpoint) ? read_train_state(checkpoint, fingerprint.dump()).step : 0;
  if (from > 0) notes.push_back(fmt::format("going on from step {}", from));
  TrainLog log(job.model / "log.jsonl", from);
  observer.started(notes);

  Judge judge(job, config, tokenizers, valid_text, valid, parameters, observer);
  Logger logger(observer, log);
  logger.extra = &judge.extra;
  Trainer trainer{config, parameters, options, pairs, plan, logger, checkpoint, fingerprint.dump(), {}, {}};
  trainer.validate = [&judge](std::span<const Tensor> weights) { return judge(weights); };
  trainer.save_best = [&](std::span<const Tensor> weights, const TrainState&) {
    write_model_weights(job.model, parameters, weights);
  };
  const Trainer::End end = [&] {
    const ScopedPrecision products(has_bf16() ? options.precision : Precision::fp32);
    return trainer.run(resume);
  }();
  if (std::filesystem::exists(job.model / "model.safetensors")) {
    write_whole_file(job.model / "report.html",
                     training_report(done, log.entries(), judge.report_lines(job.model), parameters.count()));
  }
  return end;
}

}  // namespace fovea
