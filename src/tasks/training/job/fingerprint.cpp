#include "tasks/training/job/fingerprint.hpp"

#include <nlohmann/json.hpp>

#include "model/config_json.hpp"
#include "tasks/training/job/names.hpp"

namespace fovea {

std::string training_fingerprint(const TrainingJob& job, const TrainingTask& task) {
  nlohmann::json fingerprint = {
      {"model", to_json(job.config)},
      {"seed", job.options.seed},
      {"validate", enum_text(job.validate)},
      {"average", job.options.average},
      {"ema", job.options.adam.ema},
      {"batch-tokens", job.options.batch_tokens},
      {"tokenizer", job.tokenizer_model.empty() ? std::string(name_of(job.tokenizer)) : job.tokenizer_model}};
  if (job.tokenizer_model.empty()) {
    fingerprint["vocab"] = job.vocab;
    fingerprint["min-count"] = job.min_count;
    fingerprint["shared-vocab"] = job.shares_vocab();
    fingerprint["bpe"] = job.bpe;
  }
  if (job.subword_sampling > 0) fingerprint["subword-sampling"] = job.subword_sampling;
  fingerprint.update(task.identity());
  return fingerprint.dump();
}

}  // namespace fovea
