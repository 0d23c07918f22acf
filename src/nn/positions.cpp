#include "fovea/nn/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

namespace {

// Feature i of the first half turns by 10000^(-steps i / whole) at each position.
Tensor waves(std::int64_t first, std::int64_t length, std::int64_t width, double steps, double whole) {
  Tensor table = Tensor::zeros({length, width});
  const std::int64_t half = (width + 1) / 2;
  for (std::int64_t t = 0; t < length; ++t) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(first + t) * std::pow(10000.0, -steps * static_cast<double>(i) / whole);
      table.data()[t * width + i] = static_cast<float>(std::sin(angle));
      if (half + i < width) table.data()[t * width + half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace

Tensor sinusoidal_positions(std::int64_t first, std::int64_t length, std::int64_t width) {
  return waves(first, length, width, 2.0, static_cast<double>(width));
}

Tensor timing_signal(std::int64_t first, std::int64_t length, std::int64_t width) {
  const std::int64_t half = (width + 1) / 2;
  return waves(first, length, width, 1.0, static_cast<double>(std::max<std::int64_t>(1, half - 1)));
}

PositionEmbedding::PositionEmbedding(Parameters& p, const std::string& name, const Options& options)
    : options_(options) {
  if (options.kind == Kind::learned) table_ = p.get(name, {options.max_length, options.width}, Init::embedding);
}

Var PositionEmbedding::add_to(const Var& x, std::int64_t first) const {
  if (options_.kind == Kind::none) return x;
  const std::int64_t end = first + x.dim(1);
  if (options_.kind == Kind::learned) {
    if (end > table_.dim(0)) {
      throw Error(
          fmt::format("positions: a sequence of {} tokens, but only {} positions were learned", end, table_.dim(0)));
    }
    const Var rows = slice(table_, 0, first, end);
    if (!options_.scaled) return add_rows(x, rows);
    // As large as the embeddings, which are scaled by the same factor: unscaled, positions would be much smaller at
    // first.
    return add_rows(x, scale(rows, std::sqrt(static_cast<float>(x.dim(2)))));
  }
  if (!computed_ || computed_.dim(0) < end) {
    std::int64_t capacity = 64;
    while (capacity < end) capacity *= 2;
    computed_ = options_.kind == Kind::sinusoidal ? sinusoidal_positions(options_.first, capacity, x.dim(2))
                                                  : timing_signal(options_.first, capacity, x.dim(2));
  }
  return add_rows(x, Var(computed_.slice(0, first, end)));
}

}  // namespace fovea
