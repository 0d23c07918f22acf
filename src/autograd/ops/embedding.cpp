// rows of a table by number
//   forward   y_i = c E[id_i]
//   backward  dE[id_i] += c dy_i, in the order of i
#include <fmt/format.h>

#include <cstring>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

Var embedding(const Var& table, std::span<const std::int32_t> ids, const Shape& shape, float factor) {
  if (table.rank() != 2 || shape.size() != static_cast<std::int64_t>(ids.size())) {
    throw ShapeError(
        fmt::format("embedding: table {} and {} ids for {}", table.shape().text(), ids.size(), shape.text()));
  }
  const std::int64_t width = table.dim(1);
  Shape full = shape;
  full.push_back(width);
  const Tensor y = Tensor::empty(full);
  const Tensor in = table.value().contiguous();
  const auto& math = *kernels::active().math;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= table.dim(0)) {
      throw Error(fmt::format("embedding: id {} in a vocabulary of {}", ids[i], table.dim(0)));
    }
    math.scale(factor, in.data() + ids[i] * width, y.data() + static_cast<std::int64_t>(i) * width,
               static_cast<std::size_t>(width));
  }
  if (!recording({table})) return y;
  const Tensor kept = Tensor::empty({static_cast<std::int64_t>(ids.size())});  // the ids' bytes
  std::memcpy(kept.data(), ids.data(), ids.size_bytes());
  return record(y, {table}, [table, kept, width, factor](const Tensor& dy) {
    const GradTarget d = table.grad_target();
    if (!d.add) d.tensor.fill(0.0F);
    const auto& m = *kernels::active().math;
    for (std::int64_t i = 0; i < kept.size(); ++i) {
      std::int32_t id = 0;
      std::memcpy(&id, kept.data() + i, sizeof id);
      m.axpy(factor, dy.data() + i * width, d.tensor.data() + id * width, static_cast<std::size_t>(width));
    }
  });
}

}  // namespace fovea
