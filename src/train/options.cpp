#include "fovea/train/options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/option_values.hpp"
#include "base/processes.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea {

template <>
std::span<const EnumName<ScheduleKind>> enum_names<ScheduleKind>() {
  static constexpr EnumName<ScheduleKind> names[] = {{ScheduleKind::inverse_sqrt, "inverse-sqrt"},
                                                     {ScheduleKind::cosine, "cosine"},
                                                     {ScheduleKind::linear, "linear"},
                                                     {ScheduleKind::plateau, "plateau"},
                                                     {ScheduleKind::constant, "constant"}};
  return names;
}

template <>
std::span<const EnumName<Precision>> enum_names<Precision>() {
  static constexpr EnumName<Precision> names[] = {{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}};
  return names;
}

void TrainOptions::check() const {
  check_ranges(*this);
  if (schedule.ends() && max_steps == 0 && max_epochs == 0) {
    throw UsageError("schedule", "cosine and linear end at the last step; set max-steps or max-epochs");
  }
  if (adam.ema != 0 && average != 1) throw UsageError("ema", "cannot be combined with average");
}

LossOptions TrainOptions::loss_at(std::int64_t step, double progress) const {
  const double at = coverage_after < 1 ? progress : static_cast<double>(step);
  LossOptions now = loss;
  if (at < coverage_after) now.coverage_loss = 0;
  return now;
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
  const double rate = 1 / std::sqrt(std::max(1, dim) * steps);  // ModelConfig::check refuses a width below 1
  return has("rnn") ? std::min(rate, recurrent) : rate;
}

}  // namespace fovea
