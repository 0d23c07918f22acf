// arrays behind each other along an axis, or along a new one
//   forward   y = [x_1; x_2; …]
//   backward  dx_k = its part of dy
#include <vector>

#include "autograd/axis.hpp"
#include "base/arena.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using Vars = std::vector<Var, ArenaAllocator<Var>>;

Shape joined(std::span<const Var> parts, int index) {
  Shape shape = parts[0].shape();
  for (const Var& part : parts.subspan(1)) {
    Shape expected = shape;
    if (part.rank() == shape.rank()) expected.set(index, part.dim(index));
    if (!(part.shape() == expected)) {
      throw ShapeError(
          fmt::format("concat: {} and {} differ outside axis {}", parts[0].shape().text(), part.shape().text(), index));
    }
    shape.set(index, shape[index] + part.dim(index));
  }
  return shape;
}

}  // namespace

Var concat(std::span<const Var> parts, int axis) {
  if (parts.empty()) throw ShapeError("concat: nothing was given");
  const int index = axis_of("concat", parts[0].shape(), axis).index;
  const Tensor y = Tensor::empty(joined(parts, index));
  std::int64_t begin = 0;
  for (const Var& part : parts) {
    const std::int64_t end = begin + part.dim(index);
    y.slice(index, begin, end).copy_from(part.value());
    begin = end;
  }
  Var out;
  record({{&out, y}}, parts, [index, kept = Vars(parts.begin(), parts.end())](std::span<const Tensor> d) {
    std::int64_t from = 0;
    for (const Var& part : kept) {
      const std::int64_t to = from + part.dim(index);
      if (part.requires_grad()) part.accumulate(d[0].slice(index, from, to));
      from = to;
    }
  });
  return out;
}

Var stack(std::span<const Var> parts, int axis) {
  if (parts.empty()) throw ShapeError("stack: nothing was given");
  const int rank = parts[0].rank();
  const int index = axis < 0 ? axis + rank + 1 : axis;
  if (index < 0 || index > rank || rank == Shape::kMaxRank) {
    throw ShapeError(fmt::format("stack: {} takes no new axis {}", parts[0].shape().text(), axis));
  }
  Shape shape;
  for (int i = 0; i <= rank; ++i) {
    if (i == index) shape.push_back(1);
    if (i < rank) shape.push_back(parts[0].dim(i));
  }
  Vars widened;
  for (const Var& part : parts) {
    if (!(part.shape() == parts[0].shape())) {
      throw ShapeError(fmt::format("stack: {} and {} differ", parts[0].shape().text(), part.shape().text()));
    }
    widened.push_back(reshape(part, shape));
  }
  return concat(widened, index);
}

}  // namespace fovea
