#include "tasks/training/fingerprint.hpp"

#include <nlohmann/json.hpp>

#include "model/config_json.hpp"
#include "tasks/training/names.hpp"

namespace fovea {

std::string training_fingerprint(const TrainingJob& job, const TrainingTask& task) {
  nlohmann::json fingerprint = {
      {"model", to_json(job.config)},
      {"seed", job.options.seed},
      {"validate", enum_text(job.validate_by)},
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
  task.add_identity(fingerprint);
  return fingerprint.dump();
}

}  // namespace fovea
