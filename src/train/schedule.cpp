#include "fovea/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {

double Schedule::share(std::int64_t step, std::int64_t last_step, int halvings) const {
  const auto s = static_cast<double>(std::max<std::int64_t>(1, step));
  const auto w = static_cast<double>(std::max<std::int64_t>(1, warmup));
  const double rising = std::min(1.0, s / w);
  const double fallen = std::clamp((s - w) / std::max(1.0, static_cast<double>(last_step) - w), 0.0, 1.0);
  switch (kind) {
    case ScheduleKind::inverse_sqrt:
      return s < w ? rising : std::sqrt(w / s);
    case ScheduleKind::cosine:
      return s < w ? rising : 0.5 * (1.0 + std::cos(std::numbers::pi * fallen));
    case ScheduleKind::linear:
      return s < w ? rising : 1.0 - fallen;
    case ScheduleKind::plateau:
      return rising * std::pow(0.5, halvings);
    case ScheduleKind::constant:
      return rising;
  }
  return 1;
}

}  // namespace fovea
