#include "tasks/training/fingerprint.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "model/config_json.hpp"
#include "tasks/training/names.hpp"

namespace fovea {
namespace {

// Of all tokens of all pairs in their order.
std::string hash_of(const text::Pairs& pairs) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::span<const std::int32_t> ids) {
    hash = mix64(hash ^ ids.size());
    for (const std::int32_t id : ids) hash = mix64(hash ^ static_cast<std::uint64_t>(id));
  };
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    add(pairs.source(i));
    add(pairs.target(i));
    if (const auto copies = pairs.copies(i); !copies.empty()) add(copies);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string training_fingerprint(const TrainingJob& job, const text::Pairs& corpus, const text::Pairs& valid) {
  nlohmann::json fingerprint = {
      {"model", to_json(job.config)},
      {"seed", job.options.seed},
      {"pairs", corpus.size()},
      {"text", hash_of(corpus)},
      {"validate", enum_text(job.validate_by)},
      {"validation", hash_of(valid)},
      {"average", job.options.average},
      {"ema", job.options.adam.ema},
      {"batch-tokens", job.options.batch_tokens},
      {"tokenizer", job.tokenizer_model.empty() ? std::string(name_of(job.tokenizer)) : job.tokenizer_model}};
  if (job.tokenizer_model.empty()) {
    fingerprint["vocab"] = job.vocabulary;
    fingerprint["min-count"] = job.min_count;
    fingerprint["shared-vocab"] = job.shared_vocabulary;
    fingerprint["bpe"] = job.bpe;
  }
  if (job.subword_sampling > 0) fingerprint["subword-sampling"] = job.subword_sampling;
  return fingerprint.dump();
}

}  // namespace fovea
