// Which keys are visible to a decoder's query, and its additive scores: shared by attention_step.cpp and
// attention_step_backward.cpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "attention/rnn/decoder.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"

namespace fovea::decoder {

/// Keys [low, high).
struct Range {
  Int low = 0, high = 0;
  [[nodiscard]] Int count() const { return high - low; }
};

inline Range visible(const Decoder& d, const Source& source, Int b, float center) {
  const Int length = source.length(b);
  if (!d.local) return {0, length};
  const double low = std::ceil(static_cast<double>(center) - static_cast<double>(d.half_width));
  const double high = std::floor(static_cast<double>(center) + static_cast<double>(d.half_width)) + 1;
  if (!(high > 0 && low < static_cast<double>(length))) return {};  // beyond the keys, or no number
  return {std::max<Int>(0, static_cast<Int>(std::max(0.0, low))),
          static_cast<Int>(std::min(static_cast<double>(length), high))};
}

/// exp(-(j - center)^2 / 2 sigma^2) with sigma = half_width / 2.
inline float bell(const Decoder& d, Int j, float center) {
  const float distance = (static_cast<float>(j) - center) * 2.0F / static_cast<float>(d.half_width);
  return std::exp(-0.5F * distance * distance);
}

/// An additive score's step, on the exponentials of query and keys where they are small enough.
struct Additive {
  kernels::AdditiveStep step;
  bool exponentials = false;
};

/// `exp` [dim] receives the query's exponentials.
inline Additive additive(const Decoder& d, const Source& source, Int b, const Range& range, const float* query,
                         const float* coverage, float* exp) {
  const Int first = source.key_at(b, range.low);
  Additive a;
  a.step = {.keys = range.count(),
            .dim = d.dim,
            .q = query,
            .k = source.keys.data() + first,
            .k_stride = d.dim,
            .v = d.vector_value.data(),
            .coverage = coverage == nullptr ? nullptr : coverage + range.low,
            .coverage_weight = d.coverage_weight ? d.coverage_weight_value.data() : nullptr};
  if (coverage != nullptr || source.fits[static_cast<std::size_t>(b)] == 0) return a;
  if (!(kernels::active().attention_step->exp_twice(d.dim, query, exp) <= kernels::kAdditiveReach)) return a;
  a.step.q = exp;
  a.step.k = source.keys_exp.data() + first;
  a.exponentials = true;
  return a;
}

}  // namespace fovea::decoder
