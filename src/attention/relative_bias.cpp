// T5's relative bias as a vector over distances
//   forward   y[h, j - i + Tq - 1] = table[bucket(j - i - offset), h]
//   backward  dtable[bucket, h] = sum of dy over the distances in the bucket
#include "attention/relative_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"

namespace fovea {

std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, const RelativeBias& how) {
  std::int64_t base = 0;
  std::int64_t away = -distance;
  if (how.bidirectional) {
    buckets /= 2;
    if (distance > 0) base = buckets;
    away = std::abs(distance);
  }
  away = std::max<std::int64_t>(away, 0);
  const std::int64_t exact = buckets / 2;
  if (away < exact) return base + away;
  const double far = std::log(static_cast<double>(away) / static_cast<double>(exact)) /
                     std::log(static_cast<double>(how.max_distance) / static_cast<double>(exact));
  const auto step = static_cast<std::int64_t>(far * static_cast<double>(buckets - exact));
  return base + std::min(exact + step, buckets - 1);
}

namespace attention {

Var bias_by_distance(const RelativeBias& how, std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  const Shape& shape = how.table.shape();
  const std::int64_t buckets = shape.rank() == 2 ? shape[0] : 0;
  if (shape.rank() != 2 || shape[1] != heads || buckets < (how.bidirectional ? 4 : 2) ||
      (how.bidirectional && buckets % 2 != 0)) {
    throw ShapeError(fmt::format("attend: relative_bias.table {}: expected [buckets,{}] with {} buckets", shape.text(),
                                 heads, how.bidirectional ? "an even number of at least 4" : "at least 2"));
  }
  const std::int64_t near = (how.bidirectional ? buckets / 2 : buckets) / 2;
  if (how.max_distance <= near) {
    throw UsageError(fmt::format("attend: relative_bias.max_distance {}: expected more than {} for {} buckets",
                                 how.max_distance, near, buckets));
  }
  const std::int64_t distances = std::max<std::int64_t>(queries + keys - 1, 1);
  const std::int64_t first = -(queries - 1) - (keys - queries);  // distance of key 0 from the last query
  const Tensor table = how.table.value().contiguous();
  const Tensor y = Tensor::empty({heads, distances});
  for (std::int64_t x = 0; x < distances; ++x) {
    const std::int64_t bucket = relative_bucket(first + x, buckets, how);
    for (std::int64_t h = 0; h < heads; ++h) y.data()[h * distances + x] = table.data()[bucket * heads + h];
  }
  return record(y, {how.table}, [how, heads, distances, first, buckets](const Tensor& dy) {
    const GradTarget target = how.table.grad_target();
    if (!target.add) target.tensor.fill(0.0F);
    for (std::int64_t x = 0; x < distances; ++x) {
      const std::int64_t bucket = relative_bucket(first + x, buckets, how);
      for (std::int64_t h = 0; h < heads; ++h) {
        target.tensor.data()[bucket * heads + h] += dy.data()[h * distances + x];
      }
    }
  });
}

}  // namespace attention
}  // namespace fovea
