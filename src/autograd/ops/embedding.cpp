// rows of a table by their numbers
//   forward   y_i = c * table[ids_i]
//   backward  dtable[v] = c * sum of dy_i over all i with ids_i = v
// The backward splits the columns over the threads, so that every table row is summed in the order of i.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "autograd/elementwise.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

using Ids = std::vector<std::int32_t, ArenaAllocator<std::int32_t>>;

void check_ids(const char* op, std::span<const std::int32_t> ids, std::int64_t rows) {
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= rows) {
      throw Error(fmt::format("{}: id {} in a vocabulary of {}", op, id, rows));
    }
  }
}

void scatter_add(const Ids& ids, float scale, const Tensor& dy, const GradTarget& target, std::int64_t width) {
  if (!target.add) {
    elementwise(target.tensor.size(),
                [&](std::int64_t i, std::size_t n) { std::fill_n(target.tensor.data() + i, n, 0.0F); });
  }
  const auto axpy = kernels::active().math->axpy;
  constexpr std::int64_t kColumns = 64;
  // Few values are added faster than they are handed over.
  const std::int64_t columns = dy.size() < kChunk ? width : kColumns;
  parallel_for(width, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      axpy(scale, dy.data() + static_cast<std::int64_t>(i) * width + begin,
           target.tensor.data() + ids[i] * width + begin, static_cast<std::size_t>(end - begin));
    }
  });
}

Var pick(const char* op, const Var& table, std::span<const std::int32_t> ids, const Shape& shape, float scale) {
  const std::int64_t rows = table.dim(0);
  check_ids(op, ids, rows);
  const Tensor values = table.value().contiguous();
  const Tensor y = Tensor::empty(shape);
  const std::int64_t width = rows == 0 ? 0 : values.size() / rows;
  by_rows(static_cast<std::int64_t>(ids.size()), width, [&](std::int64_t first, std::int64_t count) {
    const auto kernel = kernels::active().math->scale;
    for (std::int64_t i = first; i < first + count; ++i) {
      kernel(scale, values.data() + ids[static_cast<std::size_t>(i)] * width, y.data() + i * width,
             static_cast<std::size_t>(width));
    }
  });
  return record(y, {table}, [table, scale, width, kept = Ids(ids.begin(), ids.end())](const Tensor& dy) {
    scatter_add(kept, scale, dy, table.grad_target(), width);
  });
}

}  // namespace

Var embedding(const Var& table, std::span<const std::int32_t> ids, const Shape& shape, float factor) {
  if (table.rank() != 2 || shape.size() != static_cast<std::int64_t>(ids.size())) {
    throw ShapeError(fmt::format("embedding: table {} and {} ids for {}; a table [vocabulary, d] is needed",
                                 table.shape().text(), ids.size(), shape.text()));
  }
  Shape full = shape;
  full.push_back(table.dim(1));
  return pick("embedding", table, ids, full, factor);
}

Var gather(const Var& x, std::span<const std::int32_t> rows) {
  if (x.rank() == 0) throw ShapeError("gather: a value of shape [] has no rows");
  Shape full = x.shape();
  full.set(0, static_cast<std::int64_t>(rows.size()));
  return pick("gather", x, rows, full, 1.0F);
}

}  // namespace fovea
