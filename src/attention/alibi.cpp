#include <cmath>

#include "fovea/attention/positions.hpp"
#include "fovea/error.hpp"

namespace fovea {

Tensor alibi_slopes(std::int64_t heads) {
  if (heads < 1) throw UsageError("alibi_slopes: at least one head is needed");
  std::int64_t power = 1;
  while (power * 2 <= heads) power *= 2;
  Tensor slopes = Tensor::empty({heads});
  for (std::int64_t h = 0; h < heads; ++h) {
    const double exponent = h < power ? static_cast<double>(h + 1) / static_cast<double>(power)
                                      : static_cast<double>(2 * (h - power) + 1) / static_cast<double>(2 * power);
    slopes.data()[h] = static_cast<float>(std::exp2(-8.0 * exponent));
  }
  return slopes;
}

}  // namespace fovea
