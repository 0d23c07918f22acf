// fovea bench train --task classify [--vocab V] [--batch-tokens N] [--threads T] [--seconds S]
//
// Whole training steps of a bag of words and pairs of words (width 100, mean, 6 labels) on random texts of 13 to 16
// tokens. Prints texts_per_s and ngrams_per_s: rows that are read, changed and written back.
#include "cli/bench/classify.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/processes.hpp"
#include "base/rng.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/threads.hpp"
#include "fovea/train/options.hpp"
#include "tasks/classification/label_learner.hpp"
#include "tasks/pair_learner.hpp"
#include "text/ngram_features.hpp"
#include "train/workers.hpp"

namespace fovea::cli {
namespace {

constexpr int kLabels = 6;
constexpr int kVectorWidth = 100;
constexpr int kBuckets = 200000;

// Random words, frequent ones more often, with their n-grams, and random labels.
class RandomTexts final : public text::Pairs {
 public:
  RandomTexts(std::int64_t count, std::int32_t vocabulary, std::uint64_t seed) {
    Rng rng(seed);
    const text::NgramFeatures ngrams({.word_ngrams = 2, .vocabulary = vocabulary, .buckets = kBuckets});
    for (std::int64_t i = 0; i < count; ++i) {
      text::SourceLine line;
      const std::uint64_t length = 12 + rng.below(4);
      for (std::uint64_t t = 0; t < length; ++t) {
        const double u = rng.uniform();
        const auto word = static_cast<std::int32_t>(u * u * u * (vocabulary - special_ids));
        line.ids.push_back(special_ids + word);
        line.pieces.push_back(std::to_string(word));
      }
      ngrams.add(line.ids, line.pieces, line.bag_ids, line.bag_ends);
      lines_.push_back(std::move(line));
      labels_.push_back(special_ids + static_cast<std::int32_t>(rng.below(kLabels)));
    }
  }
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(lines_.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override { return at(i).ids; }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    return {&labels_[static_cast<std::size_t>(i)], 1};
  }
  [[nodiscard]] text::SourceParts parts(std::int64_t i) const override { return at(i).parts(); }

 private:
  [[nodiscard]] const text::SourceLine& at(std::int64_t i) const { return lines_[static_cast<std::size_t>(i)]; }

  std::vector<text::SourceLine> lines_;
  std::vector<std::int32_t> labels_;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

nlohmann::json measure_classifier(std::int32_t vocabulary, std::int64_t batch_tokens, double for_seconds) {
  ModelConfig config;
  NgramSourceConfig source;
  source.vocabulary = vocabulary;
  source.embedding = kVectorWidth;
  source.word_ngrams = 2;
  source.buckets = kBuckets;
  config.source = source;
  config.encoder = NoEncoderConfig{.dim = kVectorWidth};
  config.head = ClassifierConfig{.pooling = Pooling::mean, .labels = kLabels};
  Parameters parameters(1);
  build_weights(config, parameters);
  const std::int64_t count = std::max<std::int64_t>(1, batch_tokens / 16);
  constexpr std::int64_t batches = 32;
  const RandomTexts texts(batches * count, vocabulary, 7);
  const PairExamples examples(texts);
  Workers workers(label_learners(config, texts), parameters, threads(), processes());
  TrainOptions options;
  options.adam.rate = 1e-4;
  Adam adam(parameters, options.adam, workers.rows());
  std::vector<std::int64_t> batch(static_cast<std::size_t>(count));
  double seconds = 0;
  std::int64_t done = 0;
  std::int64_t grams = 0;
  std::int64_t steps = 0;
  for (std::int64_t step = 0; seconds < for_seconds || steps < 2; ++step) {
    std::iota(batch.begin(), batch.end(), (step % batches) * count);
    std::int64_t read = 0;
    for (const std::int64_t i : batch) read += static_cast<std::int64_t>(texts.parts(i).bag_ids.size());
    const double start = seconds_now();
    const BatchTotals totals =
        workers.run(examples, batch, options.micro_tokens, {}, {}, static_cast<std::uint64_t>(step));
    adam.step(1e-3, 1.0 / static_cast<double>(totals.outputs));
    if (step < batches) continue;  // every batch once: memory has grown to what it needs
    seconds += seconds_now() - start;
    done += count;
    grams += read;
    ++steps;
  }
  return {{"task", "classify"},
          {"threads", threads()},
          {"parameters", parameters.count()},
          {"texts_per_s", static_cast<double>(done) / seconds},
          {"ngrams_per_s", static_cast<double>(grams) / seconds},
          {"target_tokens_per_s", static_cast<double>(done) / seconds},
          {"steps", steps},
          {"step_ms", 1000 * seconds / static_cast<double>(steps)}};
}

}  // namespace fovea::cli
