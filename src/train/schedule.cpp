#include "fovea/train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {

double Schedule::rate(std::int64_t step, int halvings) const {
  const auto s = static_cast<double>(std::max<std::int64_t>(1, step));
  const auto w = static_cast<double>(std::max<std::int64_t>(1, warmup));
  const double rising = std::min(1.0, s / w);
  switch (kind) {
    case ScheduleKind::inverse_sqrt:
      return s < w ? peak * rising : peak * std::sqrt(w / s);
    case ScheduleKind::cosine: {
      if (s < w) return peak * rising;
      const double span = std::max(1.0, static_cast<double>(last_step) - w);
      return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(1.0, (s - w) / span)));
    }
    case ScheduleKind::plateau:
      return peak * rising * std::pow(0.5, halvings);
    case ScheduleKind::constant:
      return peak * rising;
  }
  return peak;
}

}  // namespace fovea
