// fovea bench train --task caption [--freeze] [--picture-encoder E] [--dim D] …
//
// Whole training steps of a model of pictures on noise of 160x160 pixels with five captions of 9 to 13 words each, of a
// vocabulary of 3,000. With --freeze the features are computed before the clock starts, as a training does. Prints
// captions_per_s and pictures_per_s.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/arena.hpp"
#include "base/processes.hpp"
#include "base/rng.hpp"
#include "cli/bench/bench.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/picture_source.hpp"
#include "fovea/threads.hpp"
#include "fovea/train/options.hpp"
#include "tasks/captioning/caption_learner.hpp"
#include "train/workers.hpp"

namespace fovea::cli {
namespace {

constexpr int kBenchPictures = 96;
constexpr int kBenchWords = 3000;

// Pictures in a file of their own, gone afterwards.
class NoisePictures {
 public:
  NoisePictures() {
    std::string name = (std::filesystem::temp_directory_path() / "fovea-bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("no folder for " + name);
    folder_ = name;
    Rng rng(5);
    std::ofstream images(folder_ / "noise.images.bin", std::ios::binary), index(folder_ / "noise.index.tsv");
    std::size_t offset = 0;
    for (int i = 0; i < kBenchPictures; ++i) {
      Picture picture{160, 160, std::vector<std::uint8_t>(160 * 160 * 3)};
      for (auto& v : picture.rgb) v = static_cast<std::uint8_t>(rng.below(256));
      const std::string bytes = encode_jpeg(picture);
      images << bytes;
      index << i << '\t' << offset << '\t' << bytes.size() << '\n';
      offset += bytes.size();
      for (int c = 0; c < 5; ++c) {
        text.source.push_back((folder_ / "noise.index.tsv").string() + "#" + std::to_string(i));
        std::string caption;
        for (std::uint64_t k = 0; k < 9 + rng.below(5); ++k)
          caption += "w" + std::to_string(rng.below(kBenchWords)) + " ";
        text.target.push_back(caption);
      }
    }
  }
  ~NoisePictures() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  NoisePictures(const NoisePictures&) = delete;
  NoisePictures& operator=(const NoisePictures&) = delete;

  text::ParallelText text{"noise", "noise", {}, {}};

 private:
  std::filesystem::path folder_;
};

}  // namespace

nlohmann::json measure_captions(const CaptionBench& o) {
  NoisePictures noise;
  std::string words;
  for (int w = 0; w < kBenchWords; ++w) words += "w" + std::to_string(w) + " ";
  const auto tokenizer = train_tokenizer({words}, {.kind = TokenizerKind::word}).tokenizer;
  ModelConfig config;
  PictureSourceConfig pictures{.picture_encoder = enum_value<PictureEncoder>(o.picture_encoder, "picture_encoder"),
                               .embedding = o.dim};
  config.source = pictures;
  config.encoder = NoEncoderConfig{.dim = o.dim};
  config.generator() = {.decoder = RnnDecoderConfig{.dim = o.dim, .form = RnnForm::gated},
                        .vocabulary = tokenizer->size(),
                        .embedding = o.dim};
  if (o.decoder == "transformer") {
    config.generator().decoder = TransformerConfig{.layers = 2, .dim = o.dim, .ffn = 2 * o.dim, .heads = 4};
  }
  Parameters parameters(1);
  build_weights(config, parameters);
  if (o.freeze) parameters.freeze(kPictureWeights);
  const PictureStore store(CaptionSet::places(noise.text), pictures.picture_size);
  const CaptionSet captions(noise.text, store, *tokenizer, 40);
  std::optional<FeatureCache> features;
  if (o.freeze) features.emplace(config, parameters, store, "", std::int64_t{1} << 40);
  const CaptionData data{config, store, captions, features ? &*features : nullptr};
  const LearnerFactory learners = caption_learners(data);
  Workers workers(learners, parameters, threads(), processes());
  TrainOptions options;
  options.adam.rate = 1e-4;
  Adam adam(parameters, options.adam);
  CaptionPlan plan(captions, o.batch_tokens, 1);
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  double seconds = 0;
  std::int64_t tokens = 0, written = 0, seen = 0, steps = 0;
  std::uint64_t allocations = 0;
  std::vector<std::int64_t> batch;
  for (std::int64_t step = 0; seconds < o.seconds || steps < 2; ++step) {
    const std::int64_t count = plan.batches(0);
    plan.batch(0, step % count, batch);
    const double start = now();
    const BatchTotals totals =
        workers.run(captions, batch, o.micro_tokens, 0.3F, {.label_smoothing = 0.1F}, static_cast<std::uint64_t>(step));
    adam.step(1e-4, 1.0 / static_cast<double>(totals.outputs));
    if (step < count) {
      allocations = arena_stats().system_allocations;
      continue;
    }
    seconds += now() - start;
    tokens += totals.outputs;
    seen += static_cast<std::int64_t>(batch.size());
    for (const std::int64_t e : batch) written += captions.example(e).end - captions.example(e).begin;
    ++steps;
  }
  return {{"task", "caption"},
          {"picture_encoder", o.picture_encoder},
          {"decoder", o.decoder},
          {"freeze", o.freeze},
          {"threads", threads()},
          {"parameters", parameters.count()},
          {"captions_per_s", static_cast<double>(written) / seconds},
          {"pictures_per_s", static_cast<double>(seen) / seconds},
          {"target_tokens_per_s", static_cast<double>(tokens) / seconds},
          {"steps", steps},
          {"allocations_in_steady_steps", arena_stats().system_allocations - allocations}};
}

}  // namespace fovea::cli
