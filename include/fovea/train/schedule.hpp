// The learning rate over time.
#pragma once

#include <cstdint>

#include "fovea/export.hpp"
#include "fovea/fields.hpp"

namespace FOVEA_API fovea {

/// How the learning rate moves.
enum class ScheduleKind {
  inverse_sqrt,  // rises linearly over the warm-up, then falls as 1 / sqrt(step)  (Vaswani et al. 2017, eq. 3)
  cosine,        // rises linearly, then falls along half a cosine to 0 at the last step  (Loshchilov and Hutter 2017)
  linear,        // rises linearly, then falls linearly to 0 at the last step
  plateau,       // rises linearly, stays, and is halved whenever validation has not improved
  constant,      // rises linearly, stays
};

/// The learning rate of each step, as a share of the largest one.
struct Schedule {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;  // how it moves
  std::int64_t warmup = 1000;                      // steps until the largest rate

  /// Whether it falls to 0 at the last step, and so must know it.
  [[nodiscard]] bool ends() const { return kind == ScheduleKind::cosine || kind == ScheduleKind::linear; }
  /// The share at `step` (the first is 1) of a training of `last_step` steps, which cosine and linear need, after
  /// `halvings` validations without improvement.
  [[nodiscard]] double share(std::int64_t step, std::int64_t last_step = 0, int halvings = 0) const;

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.warmup, {.name = "warmup",
                     .range = at_least(0),
                     .group = "Optimizer",
                     .help = "warm-up steps: the learning rate rises linearly to its largest value",
                     .usual = "1000, at most 30% of the training"});
    visit(c.kind, {.name = "schedule", .group = "Optimizer", .help = "how the learning rate moves after the warm-up"});
  }
};

}  // namespace fovea
