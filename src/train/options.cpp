#include "train/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

void require(bool ok, const char* option, double given, const char* possible) {
  if (!ok) throw UsageError(fmt::format("{}: {} given, {}", option, given, possible));
}

}  // namespace

void TrainOptions::check() const {
  require(max_steps >= 0, "--max-steps", static_cast<double>(max_steps), "0 or more is needed");
  require(max_epochs >= 0, "--max-epochs", static_cast<double>(max_epochs), "0 or more is needed");
  require(max_minutes >= 0 && std::isfinite(max_minutes), "--max-minutes", max_minutes, "0 or more is needed");
  require(batch_tokens >= 1, "--batch-tokens", static_cast<double>(batch_tokens), "1 or more is needed");
  require(micro_tokens >= 1, "--micro-tokens", static_cast<double>(micro_tokens), "1 or more is needed");
  require(accumulate >= 1, "--accumulate", accumulate, "1 or more is needed");
  require(replicas >= 0 && replicas <= 1024, "--replicas", replicas, "0 to 1024 are possible");
  require(dropout >= 0 && dropout < 1, "--dropout", dropout, "0 up to, but not, 1 is needed");
  require(attention_dropout >= 0 && attention_dropout < 1, "--attention-dropout", attention_dropout,
          "0 up to, but not, 1 is needed");
  require(inner_dropout >= 0 && inner_dropout < 1, "--inner-dropout", inner_dropout, "0 up to, but not, 1 is needed");
  require(label_smoothing >= 0 && label_smoothing < 1, "--label-smoothing", label_smoothing,
          "0 up to, but not, 1 is needed");
  require(r_drop >= 0 && std::isfinite(r_drop), "--r-drop", r_drop, "0 or more is needed");
  require(schedule.peak > 0 && std::isfinite(schedule.peak), "--learning-rate", schedule.peak, "more than 0 is needed");
  require(schedule.warmup >= 0, "--warmup", static_cast<double>(schedule.warmup), "0 or more is needed");
  require(schedule.kind != ScheduleKind::cosine || max_steps > 0, "--schedule cosine", 0,
          "--max-steps is needed with it");
  require(beta1 >= 0 && beta1 < 1, "--beta1", beta1, "0 up to, but not, 1 is needed");
  require(beta2 >= 0 && beta2 < 1, "--beta2", beta2, "0 up to, but not, 1 is needed");
  require(epsilon > 0, "--epsilon", epsilon, "more than 0 is needed");
  require(weight_decay >= 0 && std::isfinite(weight_decay), "--weight-decay", weight_decay, "0 or more is needed");
  require(clip >= 0 && std::isfinite(clip), "--clip", clip, "0 or more is needed");
  require(checkpoint_every >= 1, "--checkpoint-every", static_cast<double>(checkpoint_every), "1 or more is needed");
  require(report_every >= 1, "--report-every", static_cast<double>(report_every), "1 or more is needed");
  require(patience >= 0, "--patience", patience, "0 or more is needed");
  require(average >= 1 && average <= 100, "--average", average, "1 to 100 are possible");
  require(ema >= 0 && ema < 1, "--ema", ema, "0 up to, but not, 1 is needed");
  require(ema == 0 || average == 1, "--ema", ema, "it and --average exclude each other");
}

int TrainOptions::replica_count() const {
  return replicas > 0 ? replicas : threads();
}

double usual_rate(const ModelConfig& config, std::int64_t warmup) {
  const auto has = [&config](Arch arch) { return config.encoder == arch || config.decoder == arch; };
  if (has(Arch::cnn)) return 1e-3;
  const double recurrent = 2e-3;
  if (!has(Arch::transformer)) return recurrent;
  const auto steps = static_cast<double>(std::max<std::int64_t>(warmup, 1000));
  const double rate = 1 / std::sqrt(config.dim * steps);
  return has(Arch::rnn) ? std::min(rate, recurrent) : rate;
}

}  // namespace fovea
