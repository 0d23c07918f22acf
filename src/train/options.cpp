#include "fovea/train/options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/processes.hpp"
#include "base/require.hpp"
#include "fovea/threads.hpp"

namespace fovea {
void TrainOptions::check() const {
  require(max_steps >= 0, "max_steps", static_cast<double>(max_steps), "0 or more is needed");
  require(max_epochs >= 0, "max_epochs", static_cast<double>(max_epochs), "0 or more is needed");
  require(max_minutes >= 0 && std::isfinite(max_minutes), "max_minutes", max_minutes, "0 or more is needed");
  require(batch_tokens >= 1, "batch_tokens", static_cast<double>(batch_tokens), "1 or more is needed");
  require(micro_tokens >= 1, "micro_tokens", static_cast<double>(micro_tokens), "1 or more is needed");
  require(accumulate >= 1, "accumulate", accumulate, "1 or more is needed");
  require(replicas >= 0 && replicas <= 1024, "replicas", replicas, "0 to 1024 are possible");
  require(dropout >= 0 && dropout < 1, "dropout", dropout, "0 up to, but not, 1 is needed");
  require(attention_dropout >= 0 && attention_dropout < 1, "attention_dropout", attention_dropout,
          "0 up to, but not, 1 is needed");
  require(inner_dropout >= 0 && inner_dropout < 1, "inner_dropout", inner_dropout, "0 up to, but not, 1 is needed");
  require(label_smoothing >= 0 && label_smoothing < 1, "label_smoothing", label_smoothing,
          "0 up to, but not, 1 is needed");
  require(r_drop >= 0 && std::isfinite(r_drop), "r_drop", r_drop, "0 or more is needed");
  require(coverage_loss >= 0 && std::isfinite(coverage_loss), "coverage_loss", coverage_loss, "0 or more is needed");
  require(coverage_after >= 0 && std::isfinite(coverage_after), "coverage_after", coverage_after,
          "0 or more is needed");
  require(schedule.peak > 0 && std::isfinite(schedule.peak), "learning_rate", schedule.peak, "more than 0 is needed");
  require(schedule.warmup >= 0, "warmup", static_cast<double>(schedule.warmup), "0 or more is needed");
  require(warmup_share >= 0 && warmup_share <= 1, "warmup_share", warmup_share, "0 to 1 is needed");
  require(!schedule.ends() || max_steps > 0 || max_epochs > 0, "schedule", 0,
          "`max_steps` or `max_epochs` is needed with cosine and linear, which end at the last step");
  adam.check();
  require(checkpoint_every >= 1, "checkpoint_every", static_cast<double>(checkpoint_every), "1 or more is needed");
  require(report_every >= 1, "report_every", static_cast<double>(report_every), "1 or more is needed");
  require(patience >= 0, "patience", patience, "0 or more is needed");
  require(average >= 1 && average <= 100, "average", average, "1 to 100 are possible");
  require(adam.ema == 0 || average == 1, "ema", adam.ema, "it and `average` exclude each other");
}

LossOptions TrainOptions::loss(std::int64_t step, double progress) const {
  const double at = coverage_after < 1 ? progress : static_cast<double>(step);
  return {.label_smoothing = label_smoothing, .r_drop = r_drop, .coverage = at >= coverage_after ? coverage_loss : 0};
}

int TrainOptions::replica_count() const {
  return replicas > 0 ? replicas : threads() * processes().count();
}

double usual_rate(const ModelConfig& config, std::int64_t warmup) {
  const std::string encoder = kind_of(config.encoder);
  const auto* generator = std::get_if<GeneratorConfig>(&config.head);
  const std::string decoder = generator != nullptr ? kind_of(generator->decoder) : encoder;
  const auto has = [&](const char* kind) { return encoder == kind || decoder == kind; };
  if (has("cnn")) return 1e-3;
  const double recurrent = 2e-3;
  if (!has("transformer")) return recurrent;
  const int dim =
      generator != nullptr && decoder == "transformer" ? dim_of(generator->decoder) : dim_of(config.encoder);
  const auto steps = static_cast<double>(std::max<std::int64_t>(warmup, 1000));
  const double rate = 1 / std::sqrt(std::max(1, dim) * steps);  // a width that cannot be is named by ModelConfig::check
  return has("rnn") ? std::min(rate, recurrent) : rate;
}

}  // namespace fovea
