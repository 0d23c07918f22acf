// The learning rate over time.
#pragma once

#include <cstdint>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// How the learning rate moves.
enum class ScheduleKind {
  inverse_sqrt,  // rises linearly over the warm-up, then falls as 1 / sqrt(step)  (Vaswani et al. 2017, eq. 3)
  cosine,        // rises linearly, then falls along half a cosine to 0 at the last step  (Loshchilov and Hutter 2017)
  linear,        // rises linearly, then falls linearly to 0 at the last step
  plateau,       // rises linearly, stays, and is halved whenever validation has not improved
  constant,      // rises linearly, stays
};

/// The learning rate of each step.
struct Schedule {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;  // how it moves
  double peak = 0;                                 // the largest rate
  std::int64_t warmup = 1000;                      // steps until the largest rate
  std::int64_t last_step = 0;                      // of cosine and linear

  /// Whether it falls to 0 at the last step, and so must know it.
  [[nodiscard]] bool ends() const { return kind == ScheduleKind::cosine || kind == ScheduleKind::linear; }
  /// At `step` (the first is 1), after `halvings` validations without improvement.
  [[nodiscard]] double rate(std::int64_t step, int halvings = 0) const;
};

}  // namespace fovea
