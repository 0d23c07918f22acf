// rows, or bags of rows, of a table
//   forward   y_p = c / sqrt(n_p) * sum of table[i] over the n_p ids i of bag p; zeros for an empty bag
//   backward  dtable[v] = sum of c / sqrt(n_p) * dy_p over all p and all i = v in bag p
// The root keeps the size of y independent of n, since rows are about independent of each other. A single row is a bag
// of one.
#include "fovea/nn/row_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/elementwise.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

using RowIds = std::vector<std::int32_t, ArenaAllocator<std::int32_t>>;

// The ids of a bag, and what its rows are multiplied with.
struct Bag {
  std::span<const std::int32_t> ids;
  float factor;
};

// Without ends each id is a bag.
Bag bag_at(std::span<const std::int32_t> ids, std::span<const std::int32_t> ends, std::size_t p, float factor) {
  if (ends.empty()) return {ids.subspan(p, 1), factor};
  const auto begin = static_cast<std::size_t>(p == 0 ? 0 : ends[p - 1]);
  const std::span<const std::int32_t> own = ids.subspan(begin, static_cast<std::size_t>(ends[p]) - begin);
  return {own, own.empty() ? 0.0F : factor / std::sqrt(static_cast<float>(own.size()))};
}

void check_bags(const std::string& name, std::span<const std::int32_t> ids, std::span<const std::int32_t> ends,
                std::int64_t rows, const Shape& shape) {
  const std::size_t bags = ends.empty() ? ids.size() : ends.size();
  if (shape.size() != static_cast<std::int64_t>(bags)) {
    throw ShapeError(fmt::format("{}: {} bags of rows for {}", name, bags, shape.text()));
  }
  std::int32_t before = 0;
  for (const std::int32_t end : ends) {
    if (end < before || end > static_cast<std::int64_t>(ids.size())) {
      throw ShapeError(fmt::format("{}: a bag ends at {} after {}, of {} ids", name, end, before, ids.size()));
    }
    before = end;
  }
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= rows) throw Error(fmt::format("{}: id {} in a table of {} rows", name, id, rows));
  }
}

Var read_bags(const RowTable& t, std::span<const std::int32_t> ids, std::span<const std::int32_t> ends,
              const Shape& shape) {
  check_bags(t.name, ids, ends, t.table.dim(0), shape);
  const std::int64_t width = t.table.dim(1);
  Shape full = shape;
  full.push_back(width);
  const Tensor y = Tensor::empty(full);
  const auto n = static_cast<std::size_t>(width);
  by_rows(shape.size(), width, [&](std::int64_t first, std::int64_t count) {
    const auto& math = *kernels::active().math;
    for (std::int64_t p = first; p < first + count; ++p) {
      const Bag bag = bag_at(ids, ends, static_cast<std::size_t>(p), t.scale);
      float* to = y.data() + p * width;
      if (bag.ids.empty()) {
        std::fill_n(to, n, 0.0F);
        continue;
      }
      math.scale(bag.factor, t.table.data() + bag.ids[0] * width, to, n);
      for (const std::int32_t id : bag.ids.subspan(1)) math.axpy(bag.factor, t.table.data() + id * width, to, n);
    }
  });
  return record(y, {t.anchor},
                [gradient = t.gradient, scale = t.scale, count = static_cast<std::size_t>(shape.size()), width, n,
                 kept = RowIds(ids.begin(), ids.end()), cuts = RowIds(ends.begin(), ends.end())](const Tensor& dy) {
                  const auto axpy = kernels::active().math->axpy;
                  for (std::size_t p = 0; p < count; ++p) {
                    const Bag bag = bag_at(kept, cuts, p, scale);
                    const float* from = dy.data() + static_cast<std::int64_t>(p) * width;
                    for (const std::int32_t id : bag.ids) axpy(bag.factor, from, gradient->row(id), n);
                  }
                });
}

}  // namespace

RowTable::RowTable(Parameters& p, const std::string& weight, std::int64_t rows, std::int64_t width,
                   const EmbeddingOptions& options)
    : name(weight),
      table(p.get(weight, {rows, width}, Init::embedding).value()),
      scale(options.scaled ? std::sqrt(static_cast<float>(width)) : 1.0F),
      gradient(std::make_shared<RowGradient>(rows, width)),
      anchor(Var::parameter(Tensor::zeros({1}))) {}

Var RowTable::operator()(std::span<const std::int32_t> ids, const Shape& shape) const {
  return read_bags(*this, ids, {}, shape);
}

Var RowTable::bags(std::span<const std::int32_t> ids, std::span<const std::int32_t> ends, const Shape& shape) const {
  if (ends.empty()) throw ShapeError(fmt::format("{}: bags without ends", name));
  return read_bags(*this, ids, ends, shape);
}

}  // namespace fovea
